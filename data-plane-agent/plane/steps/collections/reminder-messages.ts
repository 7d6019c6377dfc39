import type { ChangeRecorder } from '../../store/change-recorder.js';

/** The channel that messages are sent through. */
export interface MessageChannel {
  readonly id: string;
  /** How many lines one message may have. */
  readonly digest: number;
}

/** Distributes the reminders of one operation over messages of the outbox, which are queued as they are needed. */
export class ReminderMessages {
  private messageId: string | undefined;
  private room = 0;
  private readonly queued = new Set<string>();

  constructor(
    private readonly recorder: Pick<ChangeRecorder, 'enqueue' | 'withdraw'>,
    private readonly channel: MessageChannel,
  ) {}

  /** The message for the next reminder. Call `added` once the reminder is written. */
  id(): string {
    if (this.messageId === undefined || this.room === 0) {
      const { id: channelId, digest } = this.channel;
      this.messageId = this.recorder.enqueue({ topic: 'reminder', lane: channelId, reference: { channelId } });
      this.room = digest;
      this.queued.add(this.messageId);
    }
    return this.messageId;
  }

  added(): void {
    this.room -= 1;
  }

  /** Takes back the other messages: their reminders were decided on concurrently. */
  keep(messageIds: ReadonlySet<string | null>): void {
    this.recorder.withdraw(new Set([...this.queued].filter((id) => !messageIds.has(id))));
  }
}
