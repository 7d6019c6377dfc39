/** Node.js connects through a proxy (`proxyEnv` of its HTTP agents) from these versions on; earlier ones ignore it. */
const FROM = [
  { major: 22, minor: 21 },
  { major: 24, minor: 5 },
];

/**
 * Why HTTPS_PROXY has no effect with this version of Node.js; undefined if it has. An agent that may only reach its
 * control plane through the proxy would otherwise fail without a reason that anybody can see.
 */
export function proxyFault(nodeVersion: string): string | undefined {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const line = FROM.find((one) => one.major === major);
  const isSupported = line ? minor >= line.minor : major > 24;
  return isSupported
    ? undefined
    : `HTTPS_PROXY has no effect on Node.js ${nodeVersion}: run the agent on Node.js 24, which "npm ci" installs, or from 22.21 on`;
}
