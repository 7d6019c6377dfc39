import { fakeClock, type FakeClock } from './clock.js';
import { startServer, type DatabaseKind, type TestServer } from './server.js';
import { startMailServer, type MailServer } from './smtp.js';

/** A server that sends mails, with a clock of its own. Sign-ins are not limited by address, as all come from one. */
export interface MailingServer {
  readonly server: TestServer;
  readonly smtp: MailServer;
  readonly clock: FakeClock;
  stop(): Promise<void>;
}

export async function startMailingServer(database: DatabaseKind): Promise<MailingServer> {
  const clock = fakeClock();
  const smtp = await startMailServer();
  const server = await startServer({
    database,
    clock,
    env: { SMTP_URL: smtp.url, MAIL_FROM: 'duebook@book.example.test', LOGIN_FAILURES_PER_IP: '0' },
  });
  return {
    server,
    smtp,
    clock,
    stop: async () => {
      await server.stop();
      await smtp.stop();
    },
  };
}
