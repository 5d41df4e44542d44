import type { SentenceWords } from './sentence-words.ts';

export const sentences: SentenceWords = {
  wrong_login: 'Benutzername oder Passwort ist falsch.',
  wrong_password: 'Das Passwort ist falsch.',
  wrong_current_password: 'Das aktuelle Passwort ist falsch.',
  too_many_logins: 'Zu viele fehlgeschlagene Anmeldungen. Versuchen Sie es in {{time}} erneut.',
  login_over: 'Die Anmeldung gilt nicht mehr. Melden Sie sich erneut an.',
  admins_only: 'Das dürfen nur Admins.',
  read_only: 'Dieser Hub ist schreibgeschützt (READONLY).',
  not_yours: 'Das gehört {{owner}}. Wenden Sie sich dorthin oder an einen Admin.',
  name_taken: 'Der Name „{{name}}“ ist vergeben. Wählen Sie einen anderen.',
  no_server: 'Es gibt keinen Server „{{name}}“.',
  no_group: 'Es gibt keine Gruppe „{{name}}“.',
  no_user: 'Es gibt keinen Benutzer „{{name}}“.',
  no_activity: 'Es gibt keinen Eintrag „{{name}}“.',
  no_such_tool: 'Der Server „{{server}}“ hat kein Tool „{{name}}“.',
  no_such_prompt: 'Der Server „{{server}}“ hat keinen Prompt „{{name}}“.',
  server_installing:
    'Server „{{server}}“ wird noch installiert; das kann einige Minuten dauern. Versuchen Sie es später erneut.',
  server_connecting: 'Server „{{server}}“ wird noch verbunden. Versuchen Sie es gleich noch einmal.',
  server_away: 'Server „{{server}}“ ist nicht verbunden. Nächster Versuch in {{seconds}} s.',
  server_faulty:
    'Server „{{server}}“ hat nicht richtig geantwortet. Den Grund sehen sein Eigentümer und Admins im Log.',
  server_lost:
    'Die Verbindung zum Server „{{server}}“ brach ab, bevor die Antwort kam. Ob der Aufruf ausgeführt wurde, ist nicht bekannt.',
  server_late: 'Server „{{server}}“ hat nicht innerhalb von {{seconds}} s geantwortet.',
  server_disabled: 'Der Server ist deaktiviert. Aktivieren Sie ihn.',
  own_account: 'Das ist Ihr eigenes Konto. Fragen Sie einen anderen Admin.',
  no_other_admin: 'Es gibt keinen anderen Admin. Machen Sie zuerst einen anderen Benutzer zum Admin.',
  no_key: 'Es gibt keinen Zugriffsschlüssel „{{name}}“.',
  too_many_keys: 'Es gibt bereits {{most}}. Löschen Sie zuerst einen.',
  not_in_group: 'Der Server ist nicht in der Gruppe. Fügen Sie ihn zuerst hinzu.',
  private_address: '{{address}} ist nicht im öffentlichen Internet. Server in diesem Netz verbinden nur Admins.',
  programs_for_admins: 'Nur Admins starten Programme auf dem Rechner des Hubs.',
  logins_at_once: 'Zu viele Anmeldungen gleichzeitig. Versuchen Sie es in einigen Sekunden noch einmal.',
  upload_too_large: 'Die hochgeladene Datei ist größer als {{megabytes}} MB.',
  pin_changed:
    '„{{name}}“ auf Server „{{server}}“ hat sich geändert, seit Sie es angesehen haben. Vergleichen Sie noch einmal.',
  no_credentials: 'Für den Server „{{name}}“ hinterlegen Benutzer keine eigenen Zugangsdaten.',
  changed_meanwhile: 'Eine andere Anfrage hat das gerade geändert. Melden Sie sich erneut an.',
  no_session: 'Diese Sitzung gibt es nicht mehr.',
  owner_for_admins: 'Nur Admins übertragen etwas an einen anderen Benutzer.',
  public_for_admins:
    'Nur Admins machen etwas öffentlich. Geben Sie es für einzelne Benutzer frei, oder fragen Sie einen Admin.',
  payloads_for_admins: 'Nur Admins entscheiden, ob Argumente und Ergebnisse von Aufrufen aufbewahrt werden.',
  payloads_never:
    'Aufrufe dieses Servers enthalten Zugangsdaten der Benutzer. Ihre Argumente und Ergebnisse werden nie aufbewahrt.',
  secrets_for_admins: 'Nur Admins entscheiden, was mit Geheimnissen in Aufrufen geschieht (secretsInCalls).',
  headers_for_admins: 'Nur Admins entscheiden, welche Header von Anfragen weitergegeben werden.',
  sign_in_for_admins: 'Nur Admins entscheiden, ob sich jeder Benutzer selbst anmeldet (oauth.perUser), und wo.',
  credentials_for_admins:
    'Nur Admins entscheiden, ob Benutzer eigene Zugangsdaten hinterlegen (credentialTemplate), und wohin diese gehen.',
  files_for_admins: 'Nur Admins dürfen Dateien vom Rechner des Hubs einsetzen (${file:…}).',
  bundle_folder: 'Nur ein hochgeladenes Bundle bestimmt, wohin es entpackt wird.',
  keys_of_others: 'Nur Admins erstellen Schlüssel, die nicht ihnen selbst gehören.',
  reindex_running: 'Die Tools werden bereits indiziert.',
  no_second_factor: 'Der Benutzer „{{name}}“ hat keinen zweiten Faktor.',
  factor_gone: 'Diesen zweiten Faktor gibt es nicht mehr.',
  last_factor: 'Dieser Hub verlangt einen zweiten Faktor. Richten Sie zuerst einen anderen ein.',
  factor_of_provider: 'Sie melden sich bei einem Anbieter an, der selbst nach einem zweiten Faktor fragt.',
  no_grant: 'Diesen Zugriff gibt es nicht mehr.',
  no_guard: 'Es gibt keinen eingeschalteten Wächter „{{name}}“.',
  backup_running: 'Der Hub erstellt bereits eine Sicherung. Versuchen Sie es erneut, wenn sie fertig ist.',
  too_many_pages: 'Zu viele Seiten sind geöffnet. Schließen Sie eine, oder versuchen Sie es später erneut.',
  server_not_in_group: 'Der Server „{{name}}“ ist nicht in der Gruppe „{{group}}“.',
  group_not_yours: 'Die Gruppe „{{name}}“ dürfen Sie nicht ändern.',
  no_item: 'Auf dem Server „{{server}}“ gibt es „{{name}}“ nicht.',
  no_pins: 'Für einen Server „{{name}}“ ist nichts festgehalten.',
  pins_of_other_version:
    'Die Pins des Servers „{{name}}“ hat eine andere Version des Hubs gespeichert, und diese kann sie nicht lesen. Entscheiden Sie an einem Hub jener Version, oder aktualisieren Sie diesen.',
  no_approval: 'Es gibt keine Freigabe „{{name}}“.',
  approval_expired: 'Die Frage ist abgelaufen. Der Aufruf muss noch einmal gemacht werden.',
  already_approved: 'Das wurde bereits freigegeben, von {{by}}.',
  already_denied: 'Das wurde bereits abgelehnt, von {{by}}.',
  already_withdrawn: 'Das wurde bereits zurückgezogen, von {{by}}.',
  asker_gone: 'Das wurde bereits zurückgezogen: Der Aufrufer hat keinen Zugang mehr.',
  calls_wait: '{{count}} Aufrufe warten bereits auf eine Freigabe. Warten Sie zuerst die Antworten ab.',
  approvals_full: 'Zu viele Aufrufe warten auf eine Freigabe. Versuchen Sie es später erneut.',
  no_database:
    'Das braucht die Datenbank: Dieser Hub läuft ohne (DB_URL=off). Starten Sie ihn ohne DB_URL oder mit der Adresse einer PostgreSQL-Datenbank.',
  database_opening: 'Das braucht die Datenbank, die noch geöffnet wird. Versuchen Sie es gleich noch einmal.',
  database_down:
    'Das braucht die Datenbank, die gerade nicht erreichbar ist. Der Hub versucht es weiter; versuchen Sie es gleich noch einmal.',
  settings_busy: 'Die Einstellungen werden gerade laufend geändert. Versuchen Sie es erneut.',
  settings_broken: 'Die gespeicherten Einstellungen sind fehlerhaft. Berichtigen Sie sie zuerst. {{why}}',
  names_taken: 'Server mit diesen Namen gibt es bereits: {{names}}. Benennen Sie sie um, oder löschen Sie sie.',
  too_many_own: 'Es gibt bereits {{most}}. Löschen Sie zuerst etwas.',
  own_taken: '„{{name}}“ gibt es bereits.',
  no_own: 'Das gibt es nicht mehr.',
  override_name_only:
    'Beim Tool „{{tool}}“ dürfen Sie nur den Namen ändern. Lassen Sie das Übrige, wie es ist, oder fragen Sie den Eigentümer des Servers „{{server}}“ oder einen Admin.',
  app_unknown:
    'Dieser Hub kennt die App nicht, die Sie hierher geschickt hat, oder nicht mehr. Entfernen Sie den Hub aus der App und fügen Sie ihn neu hinzu.',
  app_elsewhere:
    'Die App will die Antwort an einer Adresse, die sie nicht registriert hat. Dorthin wurde nichts gesendet.',
  app_undescribed: 'Die App nennt {{url}} als ihre Beschreibung. Was dort steht, ist nicht lesbar oder nicht gültig.',
  app_address:
    'Die App nennt als ihren Namen eine Adresse, die keiner sein kann: Nötig sind https und ein Pfad, ohne „?“ und „#“.',
  apps_looked_up: 'Gerade werden zu viele Apps nachgeschlagen. Versuchen Sie es gleich noch einmal.',
  apps_new: 'Zu viele neue Apps von dieser Adresse. Versuchen Sie es später noch einmal.',
  registrations_many: 'Zu viele Registrierungen von dieser Adresse. Versuchen Sie es später noch einmal.',
  page_over: 'Diese Seite war zu lange geöffnet, oder Ihr Konto hat sich geändert. Beginnen Sie in der App von vorn.',
  reach_none: 'Wählen Sie, worauf die App zugreifen darf.',
  reach_many: 'Das sind zu viele: Wählen Sie Gruppen, höchstens {{most}} Namen.',
  reach_unknown: 'Für Sie gibt es keine Gruppe und keinen Server „{{name}}“.',
  reach_all_for_api: 'Damit die App den Hub verwalten kann, wählen Sie oben alles.',
  challenge_over:
    'Das hat zu lange gedauert, oder das Konto hat sich geändert. Geben Sie das Passwort noch einmal ein.',
  login_changed: 'Das Konto hat sich gerade geändert. Melden Sie sich erneut an.',
  code_refused: 'Der Code ist falsch oder wurde schon benutzt.',
  passkey_refused: 'Der Passkey wurde nicht angenommen.',
  factor_demanded:
    'Dieser Hub verlangt einen zweiten Faktor. Richten Sie ihn zuerst ein, auf der Seite „Konto“ des Dashboards. Wenn Sie einen haben, melden Sie sich damit an.',
  sign_in_over:
    'Diese Anmeldung lässt sich nicht abschließen: Sie ist abgelaufen oder wurde schon benutzt. Beginnen Sie von vorn.',
  sign_in_elsewhere:
    'Diese Anmeldung lässt sich nicht abschließen: Sie wurde in einem anderen Browser begonnen. Beginnen Sie hier: {{where}}',
  sign_in_server_gone: 'Diese Anmeldung lässt sich nicht abschließen: Den Server gibt es nicht mehr.',
  sign_in_user:
    'Diese Anmeldung lässt sich nicht abschließen: Wer sie begonnen hat, darf sich bei dem Server nicht mehr anmelden.',
  sign_in_set_up_again:
    'Diese Anmeldung lässt sich nicht abschließen: Der Server „{{server}}“ wurde inzwischen neu eingerichtet. Beginnen Sie von vorn.',
  sign_in_no_code:
    'Diese Anmeldung lässt sich nicht abschließen: In der Antwort fehlt der Code. Beginnen Sie von vorn.',
  sign_in_refused:
    'Die Anmeldung beim Server „{{server}}“ wurde dort abgelehnt{{why}}. Beginnen Sie von vorn, falls das ein Versehen war.',
  provider_unknown: 'Diesen Anbieter gibt es nicht.',
  provider_login_old: 'Diese Anmeldung wurde vor zu langer Zeit begonnen. Beginnen Sie in der App von vorn.',
  provider_login_late: 'Diese Anmeldung hat zu lange gedauert. Beginnen Sie in der App von vorn.',
  provider_login_elsewhere: 'Diese Anmeldung wurde nicht in diesem Browser begonnen, oder sie wurde schon benutzt.',
  provider_logins_at_once: 'Gerade melden sich zu viele an. Versuchen Sie es noch einmal.',
  provider_logins_failed:
    'Zu viele Anmeldungen von dieser Adresse sind fehlgeschlagen. Versuchen Sie es später noch einmal.',
  provider_refused:
    '{{name}} hat Sie nicht eingelassen. Gehen Sie zurück zum Hub und beginnen Sie die Anmeldung von vorn, oder bitten Sie die Verwaltung von {{name}} um Zugang.',
  provider_not_its_answer:
    'Zu dieser Adresse schickt {{name}} niemanden. Gehen Sie zurück zum Hub und beginnen Sie die Anmeldung von vorn.',
  provider_login_used:
    '{{name}} kennt diese Anmeldung nicht mehr: Sie wurde schon benutzt oder hat zu lange gedauert. Gehen Sie zurück zum Hub und beginnen Sie von vorn.',
  provider_away:
    '{{name}} ist gerade nicht erreichbar, deshalb ist dort keine Anmeldung möglich. Warten Sie etwas und beginnen Sie dann von vorn.',
  provider_login_failed:
    'Die Anmeldung bei {{name}} ist fehlgeschlagen. Gehen Sie zurück zum Hub und beginnen Sie von vorn. Schlägt sie wieder fehl, wenden Sie sich an einen Admin des Hubs: Das Log nennt den Grund.',
  provider_no_account:
    'Sie haben kein Konto auf diesem Hub. Bitten Sie einen Admin um eine Einladung an die E-Mail-Adresse, die Ihr Anbieter bestätigt hat.',
  provider_account_changed: 'Ihr Konto hat sich gerade geändert. Beginnen Sie von vorn.',
};
