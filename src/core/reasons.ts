/**
 * Why a server does not connect, by name: what is wrong, in one sentence, and what to do about it, in another. The only
 * such table: the API, the dashboard, `toolhub doctor` and the log all speak from it. `{{name}}` stands for a value.
 */
export const reasonTable = {
  // What the system says of a program that cannot be started.
  command_not_found: {
    text: 'The command "{{command}}" was not found on PATH.',
    advice: 'Install it on the machine of the hub, or give an absolute path.',
  },
  command_misspelled: {
    text: 'The command "{{command}}" was not found on PATH.',
    advice: 'Did you mean "{{suggestion}}"? Otherwise install it, or give an absolute path.',
  },
  launcher_not_found: {
    text: 'The command "{{command}}" was not found on PATH.',
    advice: 'Install {{product}} on the machine of the hub, or give an absolute path.',
  },
  file_not_found: {
    text: '"{{command}}" does not exist.',
    advice: 'Correct the path in "command".',
  },
  folder_not_found: {
    text: 'The working directory "{{folder}}" does not exist.',
    advice: 'Make it, or correct "cwd".',
  },
  not_executable: {
    text: '"{{command}}" may not be executed.',
    advice: 'Check its permissions (chmod +x), or start it through its interpreter.',
  },
  sandbox_missing: {
    text: 'It is to run in a sandbox, and the command "bwrap" (bubblewrap) is not on this machine.',
    advice: 'Install the package bubblewrap, or set "sandbox" of the server to false.',
  },
  container_missing: {
    text: 'It is to run in a container, and neither "docker" nor "podman" is on this machine.',
    advice: 'Install one of them, or take "container" out of the server.',
  },
  sandbox_forbidden: {
    text: 'The system does not let the hub make a sandbox: {{line}}',
    advice: 'Allow user namespaces to the user of the hub, or set "sandbox" of the server to false.',
  },
  sandbox_path: {
    text: 'There is no "{{path}}", which its sandbox is to have.',
    advice: 'Make it, or correct "{{list}}".',
  },
  sandbox_secret: {
    text: '"{{path}}" is or contains what no sandbox has: the data folder or the settings of the hub, or the system itself.',
    advice: 'Name folders without them in "{{list}}", or move the data folder and the settings to another place.',
  },
  sandbox_nested: {
    text: '"{{path}}" is below a folder that its sandbox may write to, or leads through one: the program could put a link in its place.',
    advice: 'Name paths outside of "sandbox.write" in "{{list}}".',
  },
  sandbox_program: {
    text: 'The program "{{command}}" is not in its sandbox.',
    advice: 'Add its folder to "sandbox.read".',
  },
  no_room: {
    text: 'The system has no room for another process ({{error}}).',
    advice: 'End other programs, or raise the limits for processes and open files.',
  },

  // What launchers say of the package.
  npm_package_not_found: {
    text: 'There is no package "{{package}}" in the npm registry, or it is private.',
    advice: 'Check its name in "args"; a private one needs a token in .npmrc.',
  },
  python_package_not_found: {
    text: 'There is no Python package "{{package}}" that could be installed.',
    advice: 'Check its name and version in "args".',
  },
  package_version_not_found: {
    text: 'The package is there, but not in the version that is asked for: {{package}}.',
    advice: 'Correct the version in "args", or leave it out.',
  },
  package_without_program: {
    text: 'The package was installed, and has no program to run.',
    advice:
      'Check its name in "args": it may be a library, or the program has another name (npx -p <package> <program>).',
  },
  image_not_found: {
    text: 'The image "{{image}}" cannot be fetched: it does not exist, or is private.',
    advice: 'Check its name and tag in "args", or log in to its registry (docker login).',
  },
  docker_not_running: {
    text: 'Docker does not answer.',
    advice: 'Start it, and check with "docker version".',
  },
  registry_refused: {
    text: 'The package registry refused the request ({{code}}).',
    advice: 'Check the token for it in .npmrc.',
  },
  registry_unreachable: {
    text: 'The package registry cannot be reached ({{code}}).',
    advice: 'Check the connection of the machine of the hub, its DNS, and its proxy.',
  },
  disk_full: {
    text: 'The disk is full.',
    advice: 'Make room on the machine of the hub.',
  },

  // What programs say of themselves.
  module_not_found: {
    text: 'The program lacks the module "{{module}}".',
    advice: 'Install what the program needs, in the folder or the environment it is started from.',
  },
  script_not_found: {
    text: 'The file "{{file}}" to be run does not exist.',
    advice: 'Correct the path in "args"; relative ones begin at "cwd".',
  },
  program_not_found: {
    text: 'The command runs "{{command}}", which was not found.',
    advice: 'Install it on the machine of the hub, or correct "args".',
  },
  value_missing: {
    text: 'The program asks for {{name}}: {{line}}',
    advice: 'Set {{name}} under "env".',
  },
  value_refused: {
    text: 'The program could not log in with what it was given: {{line}}',
    advice: 'Check the token or password under "env".',
  },
  wrong_arguments: {
    text: 'The program does not take its arguments: {{line}}',
    advice: 'Correct "args".',
  },
  port_taken: {
    text: 'The program wants a port that another program has: {{line}}',
    advice: 'End the other program, or give this one another port.',
  },
  not_permitted: {
    text: 'The program may not use a file or folder: {{line}}',
    advice: 'Give the user of the hub the right to it.',
  },
  peer_unreachable: {
    text: 'The program cannot reach what it depends on: {{line}}',
    advice: 'Check that this runs, and the address that the program was given.',
  },
  stdout_noise: {
    text: 'The server did not answer within {{seconds}} s. It printed to stdout what is no MCP message: "{{line}}".',
    advice: 'Check that the command starts an MCP server that speaks over stdio; logs belong on stderr.',
  },
  exited_after_noise: {
    text: 'The program exited with code {{code}}. It printed to stdout what is no MCP message: "{{line}}".',
    advice: 'Check that the command starts an MCP server that speaks over stdio.',
  },
  exited: {
    text: 'The program exited with code {{code}}: {{line}}',
    advice: 'Its last lines say more. Correct what they name, or the command and its arguments.',
  },
  exited_silently: {
    text: 'The program exited with code {{code}} and did not say why.',
    advice: 'Run the command by hand on the machine of the hub, to see what it does.',
  },
  install_failed_silently: {
    text: 'The installation of the package ended with code {{code}} and did not say why.',
    advice:
      'A script of a package may have failed, such as one that downloads a browser. Run the command by hand on the machine of the hub with --foreground-scripts as its first argument, which shows what scripts print.',
  },
  killed: {
    text: 'The program was ended by {{signal}}.',
    advice: 'With SIGKILL the system may have been short of memory; its last lines may say more.',
  },
  hung_up: {
    text: 'The program closed its {{pipe}} but kept running, so it was ended.',
    advice: 'Check that the command starts an MCP server that speaks over stdio.',
  },
  silent: {
    text: 'The server did not answer within {{seconds}} s, and said nothing.',
    advice: 'Check that the command starts an MCP server that speaks over stdio, and does not wait for something else.',
  },
  slow: {
    text: 'The server did not answer within {{seconds}} s. It said last: {{line}}',
    advice:
      'When it only needs longer, the next attempts give it more time; CONNECT_TIMEOUT_MS does so from the start.',
  },
  installs_long: {
    text: 'The package was not installed within {{minutes}} min.',
    advice: '{{launcher}} goes on by itself, and the next attempt waits for it.',
  },

  // What comes back from an address.
  credential_refused: {
    text: '{{where}} answered {{status}}: it does not accept the credential, or wants one.',
    advice: 'Check the token in "headers" (Authorization): it may be missing, expired, or of another account.',
  },
  credential_insufficient: {
    text: '{{where}} answered {{status}}: the credential does not allow this.',
    advice: 'Give its token the rights that the server needs, or use another one.',
  },
  no_sign_in: {
    text: '{{where}} wants a credential, and offers no sign-in (OAuth) that the hub can use.',
    advice: 'Give it a token in "headers" (Authorization), or name its authorization server in "oauth.issuer".',
  },
  no_endpoint: {
    text: '{{where}} answered {{status}}.',
    advice: 'Is this the address of its MCP endpoint? Many end in /mcp or /sse.',
  },
  web_page: {
    text: '{{where}} answered with a web page.',
    advice: 'Is this the address of its MCP endpoint? Many end in /mcp or /sse.',
  },
  not_mcp: {
    text: '{{where}} answered {{status}} with something that is no MCP message.',
    advice: 'Is this the address of its MCP endpoint?',
  },
  redirected: {
    text: '{{where}} redirects to {{target}}, another origin, which is not followed.',
    advice: 'If that is the server, make it its url.',
  },
  redirected_in_a_circle: {
    text: '{{where}} redirects too often.',
    advice: 'Open the address in a browser, and take the one it ends at.',
  },
  too_many_requests: {
    text: '{{where}} answered {{status}}: it gets too many requests.',
    advice: 'The hub waits longer between attempts; the limits of the account may have to be raised.',
  },
  server_fault: {
    text: '{{where}} answered {{status}}.',
    advice: 'The fault is at the server: look at its own log.',
  },
  silent_address: {
    text: 'The server did not answer within {{seconds}} s.',
    advice: 'The address is reachable. Look at the log of the server, or of a proxy before it.',
  },

  // What is wrong with the document of a REST API.
  api_not_fetched: {
    text: 'The OpenAPI document at {{where}} was answered with {{status}}.',
    advice: 'Check its address in "openapi.url".',
  },
  api_credential: {
    text: 'The OpenAPI document at {{where}} was answered with {{status}}: it is not for everybody.',
    advice: 'Give it credentials with "openapi.specSecurity".',
  },
  api_unreadable: {
    text: 'The OpenAPI document could not be read: {{why}}.',
    advice: 'Correct it at that place, or its address in "openapi.url".',
  },
  api_no_document: {
    text: 'What is at {{where}} is no OpenAPI document.',
    advice: 'Is this the address of the documentation page and not of the document?',
  },
  api_swagger: {
    text: 'The document at {{where}} is Swagger 2.0, which is not read.',
    advice: 'Convert it to OpenAPI 3, for example with https://converter.swagger.io.',
  },
  api_version: {
    text: 'The document at {{where}} does not say that it is OpenAPI 3.',
    advice: 'Its member "openapi" must say "3.0.x" or "3.1.x".',
  },
  api_without_operations: {
    text: 'The OpenAPI document has no operation that can be used: {{why}}.',
    advice: 'Correct it, or use the document of another version of the API.',
  },
  api_failed: {
    text: 'The API could not be read: {{why}}',
    advice: 'The log has more of it. If the document is right, report this.',
  },

  // Why no connection comes about. What follows the colon is told to callers too.
  port_closed: {
    text: 'Cannot reach {{where}}: connection refused.',
    advice: 'Is the server running?',
  },
  host_unknown: {
    text: 'Cannot reach {{where}}: its host name is not known.',
    advice: 'Check the address in {{setting}}, and the DNS.',
  },
  no_route: {
    text: 'Cannot reach {{where}}: there is no way to its host ({{code}}).',
    advice: 'Check the network, and firewalls.',
  },
  no_connection_in_time: {
    text: 'Cannot reach {{where}}: no connection within the time allowed.',
    advice: 'Is the address right, and not behind a firewall?',
  },
  tls_self_signed: {
    text: 'Cannot reach {{where}}: its certificate is self-signed.',
    advice: 'Add the certificate with NODE_EXTRA_CA_CERTS.',
  },
  tls_unknown_issuer: {
    text: "Cannot reach {{where}}: its certificate's issuer is not known.",
    advice: "Add the issuer's certificate with NODE_EXTRA_CA_CERTS.",
  },
  tls_expired: {
    text: 'Cannot reach {{where}}: its certificate has expired.',
    advice: 'It has to be renewed there.',
  },
  tls_not_valid_yet: {
    text: 'Cannot reach {{where}}: its certificate is not valid yet.',
    advice: 'Check the clock.',
  },
  tls_other_name: {
    text: 'Cannot reach {{where}}: its certificate is for another host name.',
    advice: 'Use the name that the certificate has.',
  },
  tls_not_spoken: {
    text: 'Cannot reach {{where}}: it does not speak TLS.',
    advice: 'Should the address begin with http://?',
  },
  tls_failed: {
    text: 'Cannot reach {{where}}: no secure connection comes about ({{code}}).',
    advice: 'Check which versions of TLS both sides take.',
  },
  http_not_spoken: {
    text: 'Cannot reach {{where}}: it does not speak HTTP.',
    advice: 'Is the port right?',
  },
  sign_in_needed: {
    text: 'The server asks for a sign-in.',
    advice: 'Sign in to it once, on its page in the dashboard.',
  },
} as const satisfies Record<string, { readonly text: string; readonly advice: string }>;

export type ReasonCode = keyof typeof reasonTable;

/** A text of one of the tables of what the hub says, and the values that stand at its places. */
export interface Named<Code extends string> {
  readonly code: Code;
  readonly values: Readonly<Record<string, string>>;
}

/** Why a server does not connect: one row of the table, and what its words name. */
export type Reason = Named<ReasonCode>;

/** Both sentences of a reason. */
export function reasonWords({ code, values }: Reason): { readonly text: string; readonly advice: string } {
  const { text, advice } = reasonTable[code];
  return { text: filled(text, values), advice: filled(advice, values) };
}

/** The same without the address, for callers who may not see it: from the colon on. */
export function wordsWithoutAddress({ code, values }: Reason): string {
  const { text, advice } = reasonTable[code];
  return filled(`${text.replace('Cannot reach {{where}}: ', '')} ${advice}`, values);
}

/** The reason with each value passed through `change`. */
export function withValues({ code, values }: Reason, change: (value: string) => string): Reason {
  return { code, values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)])) };
}

/** The text with the values at their places. */
export function filled(text: string, values: Reason['values']): string {
  return text.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
}
