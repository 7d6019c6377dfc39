/** The enumerations of the API document (parts 2, 3 and 5), shared by both planes. */
export const CONTRACT_TYPES = ['sale', 'lease'] as const;
export const CONTRACT_STATUSES = ['in_progress', 'completed'] as const;
export const WORKFLOW_STAGES = [
  'draft',
  'extracted',
  'review',
  'approved',
  'signed',
  'active',
  'completed',
  'archived',
] as const;
export const PAYMENT_STATUSES = ['unpaid', 'partial', 'paid'] as const;
export const DUE_STATUSES = ['settled', 'overdue', 'due_soon', 'not_due'] as const;
export const RECONCILIATION_STATUSES = ['pending', 'matched', 'exception'] as const;
export const VALIDITIES = ['not_started', 'in_force', 'expiring', 'expired'] as const;
export const FULFILLMENT_STATUSES = ['none', 'unfulfilled', 'partial', 'fulfilled', 'lapsed'] as const;
export const TERM_KINDS = ['deposit', 'delivery', 'debug', 'payment', 'expiry', 'other'] as const;
export const PAYMENT_TABS = ['due', 'overdue', 'reconcile', 'invoice', 'all'] as const;
/** The purpose of a contract's file. */
export const FILE_KINDS = ['contract_original', 'invoice', 'receipt', 'acceptance_report', 'other_evidence'] as const;
export const SCAN_STATUSES = ['pending', 'clean', 'infected', 'error', 'skipped'] as const;
export const WORKFLOW_EVENT_KINDS = ['created', 'stage_changed', 'locked', 'unlocked', 'transition_denied'] as const;
export const WORKFLOW_EVENT_SOURCES = ['user', 'system', 'import'] as const;
export const INVOICE_STATUSES = ['draft', 'issued', 'void', 'red_letter'] as const;
export const TASK_STATUSES = [
  'pending',
  'in_progress',
  'completed',
  'accepted',
  'blocked',
  'canceled',
  'overdue',
] as const;
export const COLLECTION_TABS = ['overdue', 'soon', 'all'] as const;
/** The automatic reminders of a line, by rising severity. */
export const REMINDER_STEPS = ['pre_due', 'due_day', 'overdue_1', 'escalated', 'final'] as const;
/** The automatic reminders, and those that somebody sends. */
export const DELIVERY_STEPS = [...REMINDER_STEPS, 'manual'] as const;
/** `superseded`: missed while no sweep ran, and replaced by a later step. */
export const REMINDER_STATUSES = ['queued', 'sent', 'failed', 'skipped', 'superseded'] as const;
/** Why a reminder was not sent. */
export const SKIP_REASONS = [
  'HELD',
  'BEFORE_STAGE',
  'NO_CHANNEL',
  'CHANNEL_DISABLED',
  'REMINDED_TODAY',
  'LIMIT_REACHED',
  'SUPERSEDED',
  'SETTLED',
  'DELETED',
  'RESCHEDULED',
  'NO_RECIPIENT',
] as const;
/** The state of a message: queued (also while leased), delivered, given up, or expired before delivery. */
export const MESSAGE_STATES = ['queued', 'settled', 'failed', 'expired'] as const;
export const HOLD_KINDS = ['promise', 'dispute', 'pause'] as const;
/** Workflow control levels, weakest first: each includes the ones before it. */
export const CONTROLS = ['none', 'view', 'edit', 'approve', 'sign', 'admin'] as const;

export type ContractType = (typeof CONTRACT_TYPES)[number];
export type ContractStatus = (typeof CONTRACT_STATUSES)[number];
export type WorkflowStage = (typeof WORKFLOW_STAGES)[number];
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export type DueStatus = (typeof DUE_STATUSES)[number];
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type FulfillmentStatus = (typeof FULFILLMENT_STATUSES)[number];
export type PaymentTab = (typeof PAYMENT_TABS)[number];
export type FileKind = (typeof FILE_KINDS)[number];
export type ScanStatus = (typeof SCAN_STATUSES)[number];
export type WorkflowEventKind = (typeof WORKFLOW_EVENT_KINDS)[number];
export type WorkflowEventSource = (typeof WORKFLOW_EVENT_SOURCES)[number];
export type CollectionTab = (typeof COLLECTION_TABS)[number];
export type ReminderStep = (typeof REMINDER_STEPS)[number];
export type DeliveryStep = (typeof DELIVERY_STEPS)[number];
export type ReminderStatus = (typeof REMINDER_STATUSES)[number];
export type SkipReason = (typeof SKIP_REASONS)[number];
export type MessageState = (typeof MESSAGE_STATES)[number];
export type HoldKind = (typeof HOLD_KINDS)[number];
export type Control = (typeof CONTROLS)[number];
