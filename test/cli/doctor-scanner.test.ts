import { expect } from 'chai';
import { installations, type Installation } from '../support/cli.js';
import { needsClamd, settingsOf, startClamd, type ClamdOptions } from '../support/clamd.js';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly fix: string | null;
}

describe('duebook doctor: the scanner', () => {
  needsClamd();
  const install = installations();
  const scannerCheck = async ({ inProcess }: Installation, env: Record<string, string>): Promise<Check | undefined> => {
    const { stdout } = await inProcess(['doctor', '--json'], { env });
    return (JSON.parse(stdout) as { checks: Check[] }).checks.find(({ name }) => name === 'scanner');
  };

  it('tests the configured clamd, and reports wrong settings', async () => {
    const installation = await install();
    const clamd = await startClamd();
    const lax = await startClamd({ settings: { AlertExceedsMax: 'no' }, listen: 'unix' });
    try {
      const well = await scannerCheck(installation, { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url });
      // It has one signature, and none from freshclam.
      expect(well).to.include({ status: 'warn', fix: 'run freshclam to download them' });
      expect(well?.detail).to.contain(clamd.url).and.to.contain('finds EICAR');
      const ill = await scannerCheck(installation, { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: lax.url });
      expect(ill?.status).to.equal('fail');
      expect(ill?.detail).to.contain('AlertExceedsMax');
      expect(ill?.fix).to.contain('docker/clamd.conf');
    } finally {
      await clamd.stop();
      await lax.stop();
    }
    const stopped = await scannerCheck(installation, { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url });
    expect(stopped?.status).to.equal('fail');
    expect(stopped?.fix).to.contain('CLAMAV_URL');
  });

  it('names the lines that the clamd.conf of Debian lacks, with the values for FILE_MAX_BYTES', async () => {
    const installation = await install();
    const looked = async (options: ClamdOptions, env: Record<string, string> = {}) => {
      const clamd = await startClamd({ conf: 'debian', ...options });
      try {
        return await scannerCheck(installation, { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url, ...env });
      } finally {
        await clamd.stop();
      }
    };
    const alerts = ['AlertExceedsMax yes', 'AlertEncrypted yes'];
    const limits = ['StreamMaxLength 51M', 'MaxFileSize 256M', 'MaxScanSize 1024M'];
    const fresh = await looked({});
    expect(fresh?.status).to.equal('fail');
    expect(fresh?.fix).to.contain(`: ${[...alerts, ...limits].join('; ')} (`);
    const larger = await looked({}, { FILE_MAX_BYTES: String(400 * 2 ** 20) });
    expect(larger?.fix).to.contain(`${alerts.join('; ')}; StreamMaxLength 401M; MaxFileSize 401M; MaxScanSize 1604M (`);
    const limited = await looked({ settings: settingsOf(alerts) });
    expect(limited?.status).to.equal('warn');
    expect(limited?.detail).to.contain('scans files up to 26214400 bytes (25 MiB)');
    expect(limited?.fix).to.contain(`: ${limits.join('; ')} (`);
    const repaired = await looked({ settings: settingsOf([...alerts, ...limits]) });
    expect(repaired).to.include({ status: 'warn', fix: 'run freshclam to download them' });
  });

  it('reports that there is none', async () => {
    expect(await scannerCheck(await install(), {})).to.include({ status: 'ok', fix: null });
  });
});
