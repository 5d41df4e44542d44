import type { Context } from 'hono';

/** What no page of the hub needs. The clipboard is not among it: pages copy to it. */
const unused = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'usb',
];
const permissions = unused.map((feature) => `${feature}=()`).join(', ');

/**
 * Sets what every page of the hub is sent with: it shares no process with pages of other origins, and uses no device.
 */
export function pageHeaders(
  c: Context,
  page: { readonly policy: readonly string[]; readonly referrer?: 'no-referrer' | 'same-origin' },
): void {
  c.header('Content-Security-Policy', page.policy.join('; '));
  c.header('Referrer-Policy', page.referrer ?? 'no-referrer');
  c.header('Cross-Origin-Opener-Policy', 'same-origin');
  c.header('Cross-Origin-Resource-Policy', 'same-origin');
  c.header('Permissions-Policy', permissions);
}
