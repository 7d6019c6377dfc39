import { expect } from 'chai';
import { networkOf } from '../../data-plane-agent/base/http/network.js';

describe('the network of an address', () => {
  it('is an IPv4 address itself, also if it is written as an IPv6 one', () => {
    for (const ip of [
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '::FFFF:192.0.2.1',
      '::ffff:c000:201',
      '0:0:0:0:0:ffff:192.0.2.1',
    ])
      expect(networkOf(ip), ip).to.equal('192.0.2.1');
  });

  it('is the /64 of an IPv6 address, however it is written', () => {
    for (const ip of [
      '2001:db8:0:1::1',
      '2001:0DB8:0000:0001:ffff::',
      '2001:db8:0:1:1:2:3:4',
      '2001:db8:0:1::192.0.2.1',
    ])
      expect(networkOf(ip), ip).to.equal('2001:db8:0:1::/64');
    expect(networkOf('fe80::1%eth0')).to.equal('fe80:0:0:0::/64');
    expect([networkOf('::1'), networkOf('::'), networkOf('2001:db8::7')]).to.deep.equal([
      '0:0:0:0::/64',
      '0:0:0:0::/64',
      '2001:db8:0:0::/64',
    ]);
    expect(networkOf('2001:db8:1:2::1')).not.to.equal(networkOf('2001:db8:1:3::1'));
  });

  it('is the given value when that is not an address', () => {
    for (const text of ['', 'unknown', '2001:db8', '1.2.3']) expect(networkOf(text)).to.equal(text);
  });
});
