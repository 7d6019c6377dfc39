import { s, type Static } from '../../../base/schema.js';

/** What a message about a contract's move to another stage says; the control plane adds the link. */
export const WorkflowNotice = s.object({
  contractNo: s.text(),
  projectName: s.text(),
  /** The names of the stages, or their codes if they no longer exist. */
  fromStage: s.text(),
  toStage: s.text(),
  actorName: s.text(),
  note: s.nullable(s.longText()),
  /** When it was moved, in epoch milliseconds. */
  at: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  ownerId: s.id(),
});
export type WorkflowNotice = Static<typeof WorkflowNotice>;

/** What a message about an infected file says. */
export const InfectedFileNotice = s.object({
  fileName: s.text({ max: 255 }),
  contractId: s.nullable(s.id()),
  contractNo: s.nullable(s.text()),
  /** The scanner's name of what it found. */
  signature: s.text({ max: 1_000 }),
  /** When it was found, in epoch milliseconds. */
  at: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  uploadedBy: s.nullable(s.id()),
});
export type InfectedFileNotice = Static<typeof InfectedFileNotice>;
