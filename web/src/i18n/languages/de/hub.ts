import { sandboxReasons } from './sandbox-reasons.ts';
import type { HubTexts } from '../../hub-texts.ts';

export const reasons: HubTexts['reasons'] = {
  command_not_found: {
    text: 'Der Befehl „{{command}}“ wurde im PATH nicht gefunden.',
    advice: 'Installieren Sie ihn auf dem Rechner des Hubs, oder geben Sie einen absoluten Pfad an.',
  },
  command_misspelled: {
    text: 'Der Befehl „{{command}}“ wurde im PATH nicht gefunden.',
    advice: 'Meinten Sie „{{suggestion}}“? Andernfalls installieren Sie ihn, oder geben Sie einen absoluten Pfad an.',
  },
  launcher_not_found: {
    text: 'Der Befehl „{{command}}“ wurde im PATH nicht gefunden.',
    advice: 'Installieren Sie {{product}} auf dem Rechner des Hubs, oder geben Sie einen absoluten Pfad an.',
  },
  file_not_found: { text: '„{{command}}“ existiert nicht.', advice: 'Korrigieren Sie den Pfad unter „Befehl“.' },
  folder_not_found: {
    text: 'Das Arbeitsverzeichnis „{{folder}}“ existiert nicht.',
    advice: 'Legen Sie es an, oder korrigieren Sie "cwd".',
  },
  not_executable: {
    text: '„{{command}}“ darf nicht ausgeführt werden.',
    advice: 'Prüfen Sie die Dateirechte (chmod +x), oder starten Sie die Datei über ihren Interpreter.',
  },
  ...sandboxReasons,
  no_room: {
    text: 'Das System kann keinen weiteren Prozess starten ({{error}}).',
    advice: 'Beenden Sie andere Programme, oder erhöhen Sie die Grenzen für Prozesse und offene Dateien.',
  },
  npm_package_not_found: {
    text: 'In der npm-Registry gibt es kein Paket „{{package}}“, oder es ist privat.',
    advice: 'Prüfen Sie den Namen unter „Argumente“; ein privates Paket braucht einen Token in .npmrc.',
  },
  python_package_not_found: {
    text: 'Es gibt kein installierbares Python-Paket „{{package}}“.',
    advice: 'Prüfen Sie Namen und Version unter „Argumente“.',
  },
  package_version_not_found: {
    text: 'Das Paket gibt es, aber nicht in der verlangten Version: {{package}}.',
    advice: 'Korrigieren Sie die Version unter „Argumente“, oder lassen Sie sie weg.',
  },
  package_without_program: {
    text: 'Das Paket wurde installiert, enthält aber kein ausführbares Programm.',
    advice:
      'Prüfen Sie den Namen unter „Argumente“: Vielleicht ist es eine Bibliothek, oder das Programm heißt anders (npx -p <Paket> <Programm>).',
  },
  image_not_found: {
    text: 'Das Image „{{image}}“ lässt sich nicht laden: Es existiert nicht oder ist privat.',
    advice: 'Prüfen Sie Namen und Tag unter „Argumente“, oder melden Sie sich bei der Registry an (docker login).',
  },
  docker_not_running: {
    text: 'Docker antwortet nicht.',
    advice: 'Starten Sie Docker, und prüfen Sie es mit "docker version".',
  },
  registry_refused: {
    text: 'Die Paket-Registry hat die Anfrage abgelehnt ({{code}}).',
    advice: 'Prüfen Sie den Token dafür in .npmrc.',
  },
  registry_unreachable: {
    text: 'Die Paket-Registry ist nicht erreichbar ({{code}}).',
    advice: 'Prüfen Sie Netzwerk, DNS und Proxy auf dem Rechner des Hubs.',
  },
  disk_full: { text: 'Die Festplatte ist voll.', advice: 'Schaffen Sie Platz auf dem Rechner des Hubs.' },
  module_not_found: {
    text: 'Dem Programm fehlt das Modul „{{module}}“.',
    advice:
      'Installieren Sie, was das Programm braucht, in dem Verzeichnis oder der Umgebung, aus der es gestartet wird.',
  },
  script_not_found: {
    text: 'Die auszuführende Datei „{{file}}“ existiert nicht.',
    advice: 'Korrigieren Sie den Pfad unter „Argumente“; relative Pfade beginnen bei "cwd".',
  },
  program_not_found: {
    text: 'Der Befehl ruft „{{command}}“ auf, das nicht gefunden wurde.',
    advice: 'Installieren Sie es auf dem Rechner des Hubs, oder korrigieren Sie die Argumente.',
  },
  value_missing: {
    text: 'Das Programm verlangt {{name}}: {{line}}',
    advice: 'Setzen Sie {{name}} unter „Umgebungsvariablen“.',
  },
  value_refused: {
    text: 'Das Programm konnte sich mit den erhaltenen Zugangsdaten nicht anmelden: {{line}}',
    advice: 'Prüfen Sie Token oder Passwort unter „Umgebungsvariablen“.',
  },
  wrong_arguments: {
    text: 'Das Programm akzeptiert seine Argumente nicht: {{line}}',
    advice: 'Korrigieren Sie die Argumente.',
  },
  port_taken: {
    text: 'Das Programm will einen Port, den schon ein anderes belegt: {{line}}',
    advice: 'Beenden Sie das andere Programm, oder geben Sie diesem einen anderen Port.',
  },
  not_permitted: {
    text: 'Das Programm darf auf eine Datei oder ein Verzeichnis nicht zugreifen: {{line}}',
    advice: 'Geben Sie dem Benutzer, unter dem der Hub läuft, das Recht dazu.',
  },
  peer_unreachable: {
    text: 'Das Programm erreicht einen Dienst nicht, den es braucht: {{line}}',
    advice: 'Prüfen Sie, ob dieser läuft und ob die Adresse stimmt, die das Programm bekommen hat.',
  },
  stdout_noise: {
    text: 'Der Server hat nicht innerhalb von {{seconds}} s geantwortet. Er schrieb etwas auf stdout, das keine MCP-Nachricht ist: „{{line}}“.',
    advice: 'Prüfen Sie, ob der Befehl einen MCP-Server startet, der über stdio spricht; Logs gehören auf stderr.',
  },
  exited_after_noise: {
    text: 'Das Programm endete mit Code {{code}}. Es schrieb etwas auf stdout, das keine MCP-Nachricht ist: „{{line}}“.',
    advice: 'Prüfen Sie, ob der Befehl einen MCP-Server startet, der über stdio spricht.',
  },
  exited: {
    text: 'Das Programm endete mit Code {{code}}: {{line}}',
    advice: 'Seine letzten Zeilen sagen mehr. Korrigieren Sie, was sie nennen, oder den Befehl und seine Argumente.',
  },
  exited_silently: {
    text: 'Das Programm endete mit Code {{code}}, ohne einen Grund zu nennen.',
    advice: 'Führen Sie den Befehl auf dem Rechner des Hubs von Hand aus, um zu sehen, was er tut.',
  },
  install_failed_silently: {
    text: 'Die Installation des Pakets endete mit Code {{code}}, ohne einen Grund zu nennen.',
    advice:
      'Vielleicht ist ein Skript eines Pakets gescheitert, etwa eines, das einen Browser herunterlädt. Führen Sie den Befehl auf dem Rechner des Hubs von Hand mit --foreground-scripts als erstem Argument aus: Dann ist zu sehen, was Skripte ausgeben.',
  },
  killed: {
    text: 'Das Programm wurde durch {{signal}} beendet.',
    advice: 'Bei SIGKILL war vielleicht der Arbeitsspeicher knapp; seine letzten Zeilen sagen womöglich mehr.',
  },
  hung_up: {
    text: 'Das Programm schloss {{pipe}}, lief aber weiter und wurde deshalb beendet.',
    advice: 'Prüfen Sie, ob der Befehl einen MCP-Server startet, der über stdio spricht.',
  },
  silent: {
    text: 'Der Server hat nicht innerhalb von {{seconds}} s geantwortet und nichts ausgegeben.',
    advice:
      'Prüfen Sie, ob der Befehl einen MCP-Server startet, der über stdio spricht, und nicht auf etwas anderes wartet.',
  },
  slow: {
    text: 'Der Server hat nicht innerhalb von {{seconds}} s geantwortet. Seine letzte Ausgabe: {{line}}',
    advice:
      'Wenn er nur länger braucht, geben ihm die nächsten Versuche mehr Zeit; CONNECT_TIMEOUT_MS tut das von Anfang an.',
  },
  installs_long: {
    text: 'Das Paket war nach {{minutes}} min noch nicht installiert.',
    advice: '{{launcher}} macht von selbst weiter, und der nächste Versuch wartet darauf.',
  },
  credential_refused: {
    text: '{{where}} antwortete mit {{status}}: Die Zugangsdaten werden nicht akzeptiert, oder es fehlen welche.',
    advice:
      'Prüfen Sie den Token unter „Header“ (Authorization): Vielleicht fehlt er, ist abgelaufen oder gehört zu einem anderen Konto.',
  },
  credential_insufficient: {
    text: '{{where}} antwortete mit {{status}}: Die Zugangsdaten erlauben das nicht.',
    advice: 'Geben Sie dem Token die Rechte, die der Server braucht, oder verwenden Sie einen anderen.',
  },
  no_sign_in: {
    text: '{{where}} verlangt Zugangsdaten und bietet keine Anmeldung (OAuth), die der Hub nutzen kann.',
    advice:
      'Geben Sie ihm unter „Header“ einen Token (Authorization), oder nennen Sie seinen Autorisierungsserver unter "oauth.issuer".',
  },
  no_endpoint: {
    text: '{{where}} antwortete mit {{status}}.',
    advice: 'Ist das die Adresse des MCP-Endpunkts? Viele enden auf /mcp oder /sse.',
  },
  web_page: {
    text: '{{where}} antwortete mit einer Webseite.',
    advice: 'Ist das die Adresse des MCP-Endpunkts? Viele enden auf /mcp oder /sse.',
  },
  not_mcp: {
    text: '{{where}} antwortete mit {{status}}, aber der Inhalt ist keine MCP-Nachricht.',
    advice: 'Ist das die Adresse des MCP-Endpunkts?',
  },
  redirected: {
    text: '{{where}} leitet auf {{target}} um; einer anderen Herkunft folgt der Hub nicht.',
    advice: 'Wenn das der Server ist, tragen Sie diese Adresse als URL ein.',
  },
  redirected_in_a_circle: {
    text: '{{where}} leitet zu oft um.',
    advice: 'Öffnen Sie die Adresse in einem Browser, und verwenden Sie die, bei der er ankommt.',
  },
  too_many_requests: {
    text: '{{where}} antwortete mit {{status}}: zu viele Anfragen.',
    advice: 'Der Hub wartet zwischen den Versuchen länger; vielleicht muss das Limit des Kontos erhöht werden.',
  },
  server_fault: {
    text: '{{where}} antwortete mit {{status}}.',
    advice: 'Der Fehler liegt beim Server: Sehen Sie in dessen eigenes Log.',
  },
  silent_address: {
    text: 'Der Server hat nicht innerhalb von {{seconds}} s geantwortet.',
    advice: 'Die Adresse ist erreichbar. Sehen Sie in das Log des Servers oder eines Proxys davor.',
  },
  api_not_fetched: {
    text: 'Das OpenAPI-Dokument unter {{where}} wurde mit {{status}} beantwortet.',
    advice: 'Prüfen Sie die Adresse in "openapi.url".',
  },
  api_credential: {
    text: 'Das OpenAPI-Dokument unter {{where}} wurde mit {{status}} beantwortet: Es ist nicht für alle zugänglich.',
    advice: 'Geben Sie ihm Zugangsdaten mit "openapi.specSecurity".',
  },
  api_unreadable: {
    text: 'Das OpenAPI-Dokument konnte nicht gelesen werden: {{why}}.',
    advice: 'Korrigieren Sie es an dieser Stelle oder die Adresse in "openapi.url".',
  },
  api_no_document: {
    text: 'Unter {{where}} ist kein OpenAPI-Dokument.',
    advice: 'Ist das die Adresse der Dokumentationsseite und nicht die des Dokuments?',
  },
  api_swagger: {
    text: 'Das Dokument unter {{where}} ist Swagger 2.0, das nicht gelesen wird.',
    advice: 'Wandeln Sie es in OpenAPI 3 um, zum Beispiel mit https://converter.swagger.io.',
  },
  api_version: {
    text: 'Das Dokument unter {{where}} sagt nicht, dass es OpenAPI 3 ist.',
    advice: 'Sein Element "openapi" muss "3.0.x" oder "3.1.x" sein.',
  },
  api_without_operations: {
    text: 'Das OpenAPI-Dokument hat keine Operation, die verwendet werden kann: {{why}}.',
    advice: 'Korrigieren Sie es oder verwenden Sie das Dokument einer anderen Version der API.',
  },
  api_failed: {
    text: 'Die API konnte nicht gelesen werden: {{why}}',
    advice: 'Im Protokoll steht mehr dazu. Wenn das Dokument stimmt, melden Sie das bitte.',
  },
  port_closed: { text: '{{where}} ist nicht erreichbar: Verbindung abgelehnt.', advice: 'Läuft der Server?' },
  host_unknown: {
    text: '{{where}} ist nicht erreichbar: Der Hostname ist unbekannt.',
    advice: 'Prüfen Sie die Adresse in {{setting}} und das DNS.',
  },
  no_route: {
    text: '{{where}} ist nicht erreichbar: Es gibt keine Route zum Host ({{code}}).',
    advice: 'Prüfen Sie Netzwerk und Firewalls.',
  },
  no_connection_in_time: {
    text: '{{where}} ist nicht erreichbar: Die Verbindung kam nicht in der vorgesehenen Zeit zustande.',
    advice: 'Stimmt die Adresse, und ist keine Firewall davor?',
  },
  tls_self_signed: {
    text: '{{where}} ist nicht erreichbar: Das Zertifikat ist selbst signiert.',
    advice: 'Fügen Sie das Zertifikat mit NODE_EXTRA_CA_CERTS hinzu.',
  },
  tls_unknown_issuer: {
    text: '{{where}} ist nicht erreichbar: Der Aussteller des Zertifikats ist unbekannt.',
    advice: 'Fügen Sie das Zertifikat des Ausstellers mit NODE_EXTRA_CA_CERTS hinzu.',
  },
  tls_expired: {
    text: '{{where}} ist nicht erreichbar: Das Zertifikat ist abgelaufen.',
    advice: 'Es muss dort erneuert werden.',
  },
  tls_not_valid_yet: {
    text: '{{where}} ist nicht erreichbar: Das Zertifikat ist noch nicht gültig.',
    advice: 'Prüfen Sie die Uhrzeit des Rechners.',
  },
  tls_other_name: {
    text: '{{where}} ist nicht erreichbar: Das Zertifikat gilt für einen anderen Hostnamen.',
    advice: 'Verwenden Sie den Namen, der im Zertifikat steht.',
  },
  tls_not_spoken: {
    text: '{{where}} ist nicht erreichbar: Dort wird kein TLS gesprochen.',
    advice: 'Soll die Adresse mit http:// beginnen?',
  },
  tls_failed: {
    text: '{{where}} ist nicht erreichbar: Es kommt keine sichere Verbindung zustande ({{code}}).',
    advice: 'Prüfen Sie, welche TLS-Versionen beide Seiten unterstützen.',
  },
  http_not_spoken: {
    text: '{{where}} ist nicht erreichbar: Dort wird kein HTTP gesprochen.',
    advice: 'Stimmt der Port?',
  },
  sign_in_needed: {
    text: 'Der Server verlangt eine Anmeldung.',
    advice: 'Melden Sie sich einmal bei ihm an, auf seiner Seite im Dashboard.',
  },
};
