import { FILE_INFECTED, fileInfectedTopic } from './file-infected.js';
import { reminderTopic } from './reminder.js';
import type { Topic, TopicParts } from './topic.js';
import { workflowMovedTopic } from './workflow-moved.js';

/** The topics of the plane's outbox that are delivered, by name. */
export const topicsOf = (parts: TopicParts): ReadonlyMap<string, Topic> =>
  new Map([
    ['reminder', reminderTopic(parts)],
    ['workflow.moved', workflowMovedTopic(parts)],
    [FILE_INFECTED, fileInfectedTopic(parts)],
  ]);
