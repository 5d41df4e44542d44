import { expect, test } from 'vitest';
import { childEnv, inheritableEnv } from './child-env.ts';

test('no secret of the hub reaches a child', () => {
  const secrets = `
    JWT_SECRET ADMIN_PASSWORD DB_URL OPENAI_API_KEY AZURE_OPENAI_API_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN NPM_TOKEN
    NODE_OPTIONS UV_PUBLISH_TOKEN npm_config_//registry.example/:_authToken SMART_ROUTING_X DATA_DIR path
  `;
  const env = Object.fromEntries(
    secrets
      .trim()
      .split(/\s+/)
      .map((name) => [name, 'x']),
  );
  expect(inheritableEnv({ ...env, LC_FUNCTION: '() { :; }', HOME: undefined }, 'linux')).toEqual({});
});

test('a child finds programs, home, language, proxy, certificates and package index', () => {
  const names = `
    PATH HOME LANG LC_ALL TZ XDG_CACHE_HOME TMPDIR UV_INDEX_URL https_proxy NO_PROXY NODE_EXTRA_CA_CERTS npm_config_registry
    npm_config_cache npm_config_userconfig PIP_INDEX_URL
  `;
  const env = Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, `value of ${name}`]),
  );
  expect(inheritableEnv(env, 'linux')).toEqual(env);
});

test('names are compared as the system does', () => {
  expect(inheritableEnv({ Path: 'C:\\', SystemRoot: 'C:\\Windows', path: 'x' }, 'win32')).toEqual({
    Path: 'C:\\',
    SystemRoot: 'C:\\Windows',
    path: 'x',
  });
  expect(inheritableEnv({ Path: '/x', SystemRoot: '/y' }, 'linux')).toEqual({});
});

test("the server's own variables win, and the owner's mark cannot be overwritten", () => {
  expect(childEnv({ PATH: '/bin', LANG: 'C' }, { PATH: '/opt', TOKEN: 't', TOOLHUB_OWNER: 'forged' }, 'me')).toEqual({
    PATH: '/opt',
    LANG: 'C',
    TOKEN: 't',
    TOOLHUB_OWNER: 'me',
  });
});
