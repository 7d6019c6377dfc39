import type { Sound } from '../../data-plane-agent/base/sound.js';
import type { Checked } from '../../data-plane-agent/base/validation.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import type { HoldInput } from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ExtractInput } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { FieldCommandType } from '../../data-plane-agent/plane/contract/records/fields.js';
import type { StagePatch, TransitionConfigPatch } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import type { SavedViewPatch } from '../../data-plane-agent/plane/contract/records/views.js';
import type { TransitionInput } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { promiseIssues } from '../../data-plane-agent/plane/domain/collections/holds.js';
import { sourceIssues } from '../../data-plane-agent/plane/domain/extraction/source-issues.js';
import { readPayload } from '../../data-plane-agent/plane/domain/fields/payload-issues.js';
import { conditionIssues } from '../../data-plane-agent/plane/domain/lifecycle/config-checks.js';
import { endIssues, namingIssues } from '../../data-plane-agent/plane/domain/lifecycle/moves.js';
import { viewIssues } from '../../data-plane-agent/plane/domain/views/views.js';

/** Further issues that depend on the body alone: what the operations would refuse, with the same messages. */
interface Asked {
  /** Whether a field was sent and refused. */
  isRefused(path: string): boolean;
}

export const stageRuleIssues = ({ completionRules }: Sound<StagePatch>): Issue[] =>
  conditionIssues('completionRules', completionRules);

export const transitionIssues = ({ conditions, fromStageCode, toStageCode }: Sound<TransitionConfigPatch>): Issue[] => [
  ...conditionIssues('conditions', conditions),
  ...endIssues({ fromStageCode, toStageCode }),
];

export const moveIssues = (sound: Sound<TransitionInput>, { isRefused }: Asked): Issue[] =>
  isRefused('toStageCode') ? [] : namingIssues(sound);

export const holdBodyIssues = (sound: Sound<HoldInput>, { isRefused }: Asked): Issue[] =>
  isRefused('until') ? [] : promiseIssues(sound);

export const viewBodyIssues = ({ filters, groupBy }: Sound<SavedViewPatch>): Issue[] =>
  viewIssues({ filters, groupBy });

export const extractionIssues = (sound: Sound<ExtractInput>, { isRefused }: Asked): Issue[] =>
  isRefused('text') || isRefused('fileRef') ? [] : sourceIssues(sound);

export const fieldCommandIssues = ({
  type,
  payload,
}: {
  readonly type?: FieldCommandType | undefined;
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
}): readonly Issue[] => issuesOf(type && payload && readPayload(type, payload));

const issuesOf = (read: Checked<unknown> | undefined): readonly Issue[] =>
  read === undefined || read.ok ? [] : read.issues;
