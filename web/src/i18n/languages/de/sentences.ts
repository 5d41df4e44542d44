import type { HubTexts } from '../../hub-texts.ts';

export const sentences: HubTexts['sentences'] = {
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
};
