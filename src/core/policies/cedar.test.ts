import { expect, test, vi } from 'vitest';

test('the engine is loaded when it is first used, once until it throws', async () => {
  vi.resetModules();
  const { cedarIsLoaded, withCedar } = await import('./cedar.ts');
  expect(cedarIsLoaded()).toBe(false);
  const first = withCedar((cedar, load) => ({ cedar, load }));
  expect(cedarIsLoaded()).toBe(true);
  expect(first.cedar.getCedarLangVersion()).toMatch(/^\d+\.\d+/);
  expect(withCedar((cedar, load) => cedar === first.cedar && load === first.load)).toBe(true);

  const fault = new Error('its stack overflowed');
  expect(() =>
    withCedar(() => {
      throw fault;
    }),
  ).toThrow(fault);
  expect(cedarIsLoaded()).toBe(false);
  const second = withCedar((cedar, load) => ({ cedar, load }));
  expect(second.cedar).not.toBe(first.cedar);
  expect(second.load).toBe(first.load + 1);
  expect(second.cedar.getCedarLangVersion()).toBe(first.cedar.getCedarLangVersion());
});
