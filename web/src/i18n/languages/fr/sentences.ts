import type { HubTexts } from '../../hub-texts.ts';

export const sentences: HubTexts['sentences'] = {
  wrong_login: 'Nom d’utilisateur ou mot de passe incorrect.',
  wrong_password: 'Le mot de passe est incorrect.',
  wrong_current_password: 'Le mot de passe actuel est incorrect.',
  too_many_logins: 'Trop d’échecs de connexion. Réessayez dans {{time}}.',
  login_over: 'La connexion n’est plus valable. Reconnectez-vous.',
  admins_only: 'Réservé aux administrateurs.',
  read_only: 'Ce hub est en lecture seule (READONLY).',
  not_yours: 'Cela appartient à {{owner}}. Adressez-vous à cette personne ou à un administrateur.',
  name_taken: 'Le nom « {{name}} » est déjà pris. Choisissez-en un autre.',
  no_server: 'Il n’y a pas de serveur « {{name}} ».',
  no_group: 'Il n’y a pas de groupe « {{name}} ».',
  no_user: 'Il n’y a pas d’utilisateur « {{name}} ».',
  no_activity: 'Il n’y a pas d’enregistrement « {{name}} ».',
  no_such_tool: 'Le serveur « {{server}} » n’a pas d’outil « {{name}} ».',
  no_such_prompt: 'Le serveur « {{server}} » n’a pas de prompt « {{name}} ».',
  server_installing:
    'Le serveur « {{server}} » est en cours d’installation, ce qui peut prendre plusieurs minutes. Réessayez plus tard.',
  server_connecting: 'Le serveur « {{server}} » est en cours de connexion. Réessayez dans un instant.',
  server_away: 'Le serveur « {{server}} » n’est pas connecté. Prochaine tentative dans {{seconds}} s.',
  server_faulty:
    'Le serveur « {{server}} » n’a pas donné de réponse correcte. Son propriétaire et les administrateurs en voient la raison dans le journal.',
  server_late: 'Le serveur « {{server}} » n’a pas répondu en {{seconds}} s.',
  server_disabled: 'Le serveur est désactivé. Activez-le plutôt.',
  own_account: 'C’est votre propre compte. Demandez à un autre administrateur.',
  no_other_admin: 'Il n’y a pas d’autre administrateur. Donnez d’abord ce rôle à un autre utilisateur.',
  no_key: 'Il n’y a pas de clé d’accès « {{name}} ».',
  too_many_keys: 'Il y en a déjà {{most}}. Supprimez-en d’abord une.',
  not_in_group: 'Le serveur n’est pas dans le groupe. Ajoutez-le d’abord.',
  private_address:
    '{{address}} n’est pas sur l’internet public. Seuls les administrateurs connectent des serveurs de ce réseau.',
  programs_for_admins: 'Seuls les administrateurs lancent des programmes sur la machine du hub.',
  logins_at_once: 'Trop de connexions en même temps. Réessayez dans quelques secondes.',
  upload_too_large: 'Le fichier envoyé dépasse {{megabytes}} Mo.',
  pin_changed: '« {{name}} » du serveur « {{server}} » a changé depuis que vous l’avez consulté. Comparez à nouveau.',
};
