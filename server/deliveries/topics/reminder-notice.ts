import type {
  ReminderMessage,
  RemindedLine,
} from '../../../data-plane-agent/plane/contract/records/reminder-messages.js';
import type { DeliveryStep } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import type { ChannelRecord } from '../../store/channels.js';
import { adapterOf } from '../../notifications/channels/index.js';
import { contractLink, type NoticeOf, type ReminderLine } from '../../notifications/notices/notice.js';
import { mailRecipients } from '../../notifications/send.js';
import { peopleOf, type People } from './people.js';
import type { Names, TopicParts } from './topic.js';

/** A reminder of one line, as the data plane describes it. */
export type Reminded = Pick<ReminderMessage['reminders'][number], 'step' | 'recipientId' | 'line'>;

/** Everything of a message but its id. */
interface ComposedReminder {
  readonly notice: NoticeOf<'reminder'>;
  readonly language: string;
  /** As `reminderRecipients`. */
  readonly recipients: readonly string[] | undefined;
}

/**
 * The message about these lines, as it is sent through the channel at present. Preview and delivery use it, so that they
 * have the same text. `undefined` if the organisation does not exist.
 */
export async function composedReminder(
  reminders: readonly [Reminded, ...Reminded[]],
  { tenantId, channel, at }: { readonly tenantId: string; readonly channel: ChannelRecord; readonly at: number },
  { database, directory, contractLink: linkTemplate }: Pick<TopicParts, 'database' | 'directory' | 'contractLink'>,
): Promise<ComposedReminder | undefined> {
  const people = await peopleOf(database, { tenantId, memberIds: reminders.flatMap(concernedMembers) });
  if (!people) return undefined;
  return {
    notice: reminderNotice(reminders, {
      directory: await directory.of(tenantId),
      linkTemplate,
      kind: channel.kind,
      at,
    }),
    language: people.tenant.settings.defaultLanguage ?? 'en',
    recipients: reminderRecipients(channel, reminders[0], people),
  };
}

/** What a message about these lines says. */
export const reminderNotice = (
  reminders: readonly Reminded[],
  {
    directory,
    linkTemplate,
    kind,
    at,
  }: {
    readonly directory: Names;
    readonly linkTemplate: string | undefined;
    /** The kind of the channel. */
    readonly kind: string;
    readonly at: number;
  },
): NoticeOf<'reminder'> => ({
  type: 'reminder',
  lines: reminders.map(({ step, line }) => reminderLine(line, { step, directory, linkTemplate })),
  ...(adapterOf(kind).digests && reminders.length > 1 ? { digest: true } : {}),
  at,
});

function reminderLine(
  { subjectId, ownerId, ownerSuperiorId: _superior, ...line }: RemindedLine,
  {
    step,
    directory,
    linkTemplate,
  }: {
    readonly step: DeliveryStep;
    readonly directory: Names;
    readonly linkTemplate: string | undefined;
  },
): ReminderLine {
  return {
    ...line,
    subjectName: directory.subjectName(subjectId) ?? line.partyB,
    step,
    ownerName: directory.memberName(ownerId),
    link: contractLink(linkTemplate, line.contractId),
  };
}

/** The members that a message about a line concerns, whose addresses `reminderRecipients` needs. */
export const concernedMembers = ({ recipientId, line }: Reminded): string[] =>
  [recipientId, line.ownerId, line.ownerSuperiorId].filter((id) => id !== null);

/**
 * The addresses that a mail about a line is sent to: those of the channel, or else the owner of the contract. An
 * escalation is also sent to the owner's superior, and the last reminder to the administrators. The owner of the
 * organisation stands in for an owner or superior who is not, or no longer, an active member. `undefined` for channels
 * that send no mail.
 */
export function reminderRecipients(
  channel: Pick<ChannelRecord, 'kind' | 'target'>,
  { recipientId, step, line }: Reminded,
  people: People,
): readonly string[] | undefined {
  if (adapterOf(channel.kind).transport !== 'mail') return undefined;
  const escalates = step === 'escalated' || step === 'final';
  const all = [
    ...mailRecipients(channel, known(people.address(recipientId ?? line.ownerId) ?? people.owner)),
    ...(escalates ? known(people.address(line.ownerSuperiorId) ?? people.owner) : []),
    ...(step === 'final' ? people.admins : []),
  ];
  return [...new Map(all.map((address) => [address.toLowerCase(), address])).values()];
}

const known = (address: string | undefined): string[] => (address === undefined ? [] : [address]);
