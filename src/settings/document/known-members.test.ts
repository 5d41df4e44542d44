import { expect, test } from 'vitest';
import { z } from 'zod';
import { changeSystemConfig, systemConfigInput } from '../system/system-config.ts';
import { systemShape } from '../system/system-shape.ts';

test('every member of systemConfig that the settings read can be changed through the API', () => {
  const unwrapped = (type: unknown): unknown => (type instanceof z.ZodOptional ? unwrapped(type.unwrap()) : type);
  let members = 0;
  for (const [section, type] of Object.entries(systemShape.shape)) {
    expect(Object.keys(systemConfigInput.shape)).toContain(section);
    const shape = unwrapped(type);
    if (!(shape instanceof z.ZodObject)) continue;
    for (const member of Object.keys(shape.shape)) {
      expect(() => changeSystemConfig({}, { [section]: { [member]: 'value' } }), `${section}.${member}`).not.toThrow();
      members++;
    }
  }
  expect(members).toBeGreaterThan(10);
});
