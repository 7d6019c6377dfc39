import { join } from 'node:path';

/**
 * The unit of the server. It may write to its own folder only; the limits are those of systemd.exec(5) that Node.js works
 * under: its compiler needs memory that is writable and executable, so MemoryDenyWriteExecute stays off.
 */
export function systemdUnit({ node, programs }: { readonly node: string; readonly programs: string }): string {
  const inHome = [node, programs].some((path) => /^\/(home|root)\//.test(path));
  return `# Written by "duebook install".
[Unit]
Description=Duebook, contracts and receivables
After=network-online.target postgresql.service clamav-daemon.service
Wants=network-online.target

[Service]
Type=exec
User=duebook
Group=duebook
# Of clamd's socket; a group that does not exist keeps the unit from starting.
#SupplementaryGroups=clamav
EnvironmentFile=/etc/duebook/duebook.env
ExecStart=${word(node)} ${word(join(programs, 'server/main.js'))}
Restart=on-failure
# An invalid configuration does not become valid by itself.
RestartPreventExitStatus=78
RestartSec=2
KillSignal=SIGTERM
KillMode=mixed
# The server completes what runs within 25 seconds.
TimeoutStopSec=35

StateDirectory=duebook
StateDirectoryMode=0700
WorkingDirectory=/var/lib/duebook
UMask=0077
LimitNOFILE=65536

NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=/var/lib/duebook
ProtectHome=${inHome ? 'read-only' : 'yes'}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
CapabilityBoundingSet=
AmbientCapabilities=
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line of systemd. */
const word = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
