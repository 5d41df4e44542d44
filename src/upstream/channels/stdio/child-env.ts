/**
 * Names that programs need to find themselves, their home, their language, the network and their package index. None of
 * them holds a secret of the hub.
 */
const names = listed(`
  PATH HOME USER LOGNAME SHELL LANG TZ TERM TMPDIR TEMP TMP DISPLAY WAYLAND_DISPLAY XAUTHORITY
  HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
  npm_config_registry npm_config_cache npm_config_userconfig npm_config_globalconfig npm_config_prefix
  npm_config_cafile npm_config_proxy npm_config_https_proxy npm_config_noproxy npm_config_offline
  NPM_CONFIG_REGISTRY NPM_CONFIG_CACHE NPM_CONFIG_USERCONFIG NPM_CONFIG_PREFIX NPM_CONFIG_CAFILE
  PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CERT PIP_CONFIG_FILE PIP_CACHE_DIR
  NVM_DIR VOLTA_HOME ASDF_DIR ASDF_DATA_DIR PYENV_ROOT JAVA_HOME PLAYWRIGHT_BROWSERS_PATH
  DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY
`);

const prefixes = ['LC_', 'XDG_', 'UV_'];
/** Credentials for uploading packages, which no tool server is for. */
const withheld = ['UV_PUBLISH_'];

/** Without these few a Windows program does not even start. Their case varies there. */
const windowsNames = listed(`
  PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA
  PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS
`);

/** The name of the mark that every child carries, its children too: which hub started it (`ownerMark`). */
export const ownerVariable = 'TOOLHUB_OWNER';

/** The name of the mark that a launcher carries: what it installs (`installMark`). */
export const installVariable = 'TOOLHUB_INSTALL';

/**
 * The part of the hub's environment that a tool server inherits: an allow-list, so that no secret of the hub ever
 * reaches a child.
 */
export function inheritableEnv(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    // A shell function exported by bash is code, not a value.
    if (value === undefined || value.startsWith('() {')) continue;
    if (isInheritable(name, platform)) inherited[name] = value;
  }
  return inherited;
}

/**
 * The environment of one child: what is inherited, over it what the operator wrote for this server, and the marks of
 * its owner and of what it installs.
 */
export function childEnv(
  inherited: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  owner: string,
  installs?: string,
): Record<string, string> {
  return {
    ...inherited,
    ...own,
    [ownerVariable]: owner,
    ...(installs !== undefined && { [installVariable]: installs }),
  };
}

function isInheritable(name: string, platform: NodeJS.Platform): boolean {
  if (withheld.some((prefix) => name.startsWith(prefix))) return false;
  if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) return true;
  return platform === 'win32' && windowsNames.has(name.toUpperCase());
}

function listed(words: string): Set<string> {
  return new Set(words.trim().split(/\s+/));
}
