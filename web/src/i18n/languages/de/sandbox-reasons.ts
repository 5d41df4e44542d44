/** Why a server in a sandbox does not start: a part of `reasons`. */
export const sandboxReasons = {
  sandbox_missing: {
    text: 'Der Server soll in einer Sandbox laufen, und der Befehl "bwrap" (bubblewrap) fehlt auf diesem Rechner.',
    advice: 'Installieren Sie das Paket bubblewrap, oder setzen Sie "sandbox" des Servers auf false.',
  },
  container_missing: {
    text: 'Der Server soll in einem Container laufen, und weder "docker" noch "podman" ist auf diesem Rechner.',
    advice: 'Installieren Sie eines davon, oder nehmen Sie "container" aus dem Server.',
  },
  sandbox_forbidden: {
    text: 'Das System lässt den Hub keine Sandbox anlegen: {{line}}',
    advice: 'Erlauben Sie dem Benutzer des Hubs User-Namespaces, oder setzen Sie "sandbox" des Servers auf false.',
  },
  sandbox_path: {
    text: '„{{path}}“, das in der Sandbox sein soll, gibt es nicht.',
    advice: 'Legen Sie es an, oder korrigieren Sie "{{list}}".',
  },
  sandbox_secret: {
    text: '„{{path}}“ ist oder enthält, was in keiner Sandbox ist: den Datenordner oder die Einstellungen des Hubs, oder das System selbst.',
    advice: 'Nennen Sie unter "{{list}}" Ordner ohne diese, oder verlegen Sie den Datenordner und die Einstellungen.',
  },
  sandbox_nested: {
    text: '„{{path}}“ liegt unter einem Ordner, in den die Sandbox schreiben darf, oder führt durch einen: Das Programm könnte dort eine Verknüpfung anlegen.',
    advice: 'Nennen Sie unter "{{list}}" Pfade außerhalb von "sandbox.write".',
  },
  sandbox_program: {
    text: 'Das Programm „{{command}}“ ist nicht in seiner Sandbox.',
    advice: 'Nehmen Sie seinen Ordner in "sandbox.read" auf.',
  },
};
