import { join } from 'node:path';
import { shellWord } from './files.js';
import type { Answers, Target } from './questions.js';

const BOOTSTRAP = "bootstrap --tenant-slug acme --tenant-name 'Acme' --email ann@acme.example --name 'Ann Lee'";

/** The commands that follow, in order. A line that begins with # says what to do besides. */
export function nextCommands({ target, publicUrl = '', port = '8080' }: Answers, folder: string): readonly string[] {
  const at = (path: string): string => shellWord(join(folder, path));
  const proxy = `# let a proxy with TLS pass ${publicUrl} on to http://127.0.0.1:${port} (docs/install.md shows nginx and Caddy)`;
  const commands: Readonly<Record<Target, readonly string[]>> = {
    local: [`${at('duebook')} ${BOOTSTRAP}`, `${at('duebook')} doctor`, at('run'), proxy],
    systemd: [
      'sudo useradd --system --home-dir /var/lib/duebook --shell /usr/sbin/nologin duebook',
      'sudo install -d -m 750 -o root -g duebook /etc/duebook',
      `sudo install -m 640 -o root -g duebook ${at('duebook.env')} /etc/duebook/duebook.env`,
      'sudo install -d -m 700 -o duebook -g duebook /var/lib/duebook',
      `sudo install -m 755 ${at('duebook')} /usr/local/bin/duebook`,
      `sudo -u duebook duebook ${BOOTSTRAP}`,
      `sudo install -m 644 ${at('duebook.service')} /etc/systemd/system/duebook.service`,
      'sudo systemctl daemon-reload && sudo systemctl enable --now duebook',
      'sudo -u duebook duebook doctor',
      proxy,
    ],
    compose: [
      `# ${at('')} must be the folder of compose.yaml`,
      `docker compose --project-directory ${at('')} up --detach --wait`,
      `docker compose --project-directory ${at('')} exec server duebook ${BOOTSTRAP}`,
      `docker compose --project-directory ${at('')} exec server duebook doctor`,
      '# let a proxy with TLS pass the service on to http://127.0.0.1:8080, and the files to http://127.0.0.1:9000',
    ],
    helm: [
      `kubectl create secret generic duebook --from-env-file=${at('secret.env')}`,
      `helm install duebook helm/duebook --values ${at('values.yaml')} --wait`,
      `kubectl exec deploy/duebook -- duebook ${BOOTSTRAP}`,
      'helm test duebook',
    ],
  };
  return commands[target as Target]; // the answer is one of the choices
}
