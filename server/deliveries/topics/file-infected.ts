import type { Transaction } from '../../../data-plane-agent/base/database/database.js';
import { derivedId } from '../../../data-plane-agent/base/ids.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import type { InfectedFileNotice } from '../../../data-plane-agent/plane/contract/records/notices.js';
import { ChannelStore, type ChannelRecord } from '../../store/channels.js';
import { MemberStore } from '../../store/members.js';
import { languageOf } from '../../notifications/language.js';
import { contractLink as linkOf } from '../../notifications/notices/notice.js';
import { noticeRecipients, notNeeded, sendNotice } from './notice.js';
import { peopleOf, type People } from './people.js';
import { parsed } from './reference.js';
import type { Topic, TopicParts } from './topic.js';

const Reference = s.object({ fileId: s.id() });

/** The lane of these messages: which channel is the default one is decided when they are sent. */
export const FILE_INFECTED = 'file.infected';

/**
 * The scanner found malware in an uploaded file. The organisation's default channel gets a message; the uploader, or the
 * owner if the uploader has left, gets a mail, unless the channel sends to that address anyway. The id of the mail is
 * derived from the message, so that another attempt does not enqueue it again.
 */
export function fileInfectedTopic(parts: TopicParts): Topic {
  const { database, contractLink } = parts;
  return {
    attempt: async (message, { tenantId, plane }) => {
      const { fileId } = parsed(Reference, message.reference);
      const { notice } = await plane.getInfectedFileNotice({ fileId });
      if (!notice) return notNeeded('DELETED');
      const { uploadedBy: memberId, ...facts } = notice;
      const people = await peopleOf(database, { tenantId, memberIds: memberId === null ? [] : [memberId] });
      if (!people) return notNeeded('NO_RECIPIENT');
      const channel = await database.read({ tenantId: null }, (tx) => new ChannelStore(tx, tenantId).default());
      const link = facts.contractId === null ? null : linkOf(contractLink, facts.contractId);
      const to = people.address(memberId) ?? people.owner;
      if (to !== undefined && !sendsTo(channel, { to, memberId, people }))
        await database.write({ tenantId: null }, (tx) =>
          enqueueMail(tx, { to, fileId, notice, link, people, messageId: message.id }, parts),
        );
      return sendNotice(
        message,
        { channel, notice: { type: 'file.infected', fileId, ...facts, link }, memberId, people },
        parts,
      );
    },
  };
}

/** Whether the channel sends a mail to the address. */
const sendsTo = (
  channel: ChannelRecord | undefined,
  { to, ...who }: { readonly to: string; readonly memberId: string | null; readonly people: People },
): boolean =>
  channel?.enabled === true &&
  (noticeRecipients(channel, who) ?? []).some((address) => address.toLowerCase() === to.toLowerCase());

interface InfectedMail {
  readonly to: string;
  readonly fileId: string;
  readonly notice: InfectedFileNotice;
  readonly link: string | null;
  readonly people: People;
  readonly messageId: string;
}

async function enqueueMail(
  tx: Transaction,
  { to, fileId, notice, link, people: { tenant }, messageId }: InfectedMail,
  { mail }: Pick<TopicParts, 'mail'>,
): Promise<void> {
  const { fileName, contractNo, signature } = notice;
  const member = await new MemberStore(tx, tenant.id).byEmail(to);
  await mail.enqueue(tx, {
    id: derivedId(messageId, 'mail'),
    tenantId: tenant.id,
    to,
    template: 'file_infected',
    language: languageOf({ tenant, member }),
    values: { tenantName: tenant.name, fileName, contractNo, signature, link },
    about: { kind: 'file', id: fileId },
  });
}
