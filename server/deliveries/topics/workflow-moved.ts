import { s } from '../../../data-plane-agent/base/schema.js';
import { parsed } from './reference.js';
import { contractLink as linkOf } from '../../notifications/notices/notice.js';
import { channelById } from '../../notifications/through-channel.js';
import { notNeeded, sendNotice } from './notice.js';
import { peopleOf } from './people.js';
import type { Topic, TopicParts } from './topic.js';

const Reference = s.object({ channelId: s.id(), contractId: s.id(), eventId: s.id() });

/**
 * A contract was moved by a transition that notifies a channel. Nothing is sent if the contract was deleted, or the
 * channel was deleted or disabled, in the meantime.
 */
export function workflowMovedTopic(parts: TopicParts): Topic {
  const { database, contractLink } = parts;
  return {
    attempt: async (message, { tenantId, plane }) => {
      const { channelId, contractId, eventId } = parsed(Reference, message.reference);
      const { notice } = await plane.getWorkflowNotice({ contractId, eventId });
      if (!notice) return notNeeded('DELETED');
      const { ownerId, ...facts } = notice;
      const people = await peopleOf(database, { tenantId, memberIds: [ownerId] });
      if (!people) return notNeeded('NO_RECIPIENT');
      return sendNotice(
        message,
        {
          channel: await channelById(database, { tenantId, channelId }),
          notice: { type: 'workflow.moved', contractId, ...facts, link: linkOf(contractLink, contractId) },
          memberId: ownerId,
          people,
        },
        parts,
      );
    },
  };
}
