import type { SentenceWords } from './sentence-words.ts';

export const sentences: SentenceWords = {
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
  server_lost:
    'La connexion au serveur « {{server}} » a pris fin avant la réponse. On ne sait pas si l’appel a été exécuté.',
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
  no_credentials: 'Les utilisateurs ne fournissent pas d’identifiants pour le serveur « {{name}} ».',
  changed_meanwhile: 'Une autre requête vient de le modifier. Reconnectez-vous.',
  no_session: 'Cette session n’existe plus.',
  owner_for_admins: 'Seuls les administrateurs peuvent le donner à un autre utilisateur.',
  public_for_admins:
    'Seuls les administrateurs peuvent le rendre public. Partagez-le avec des utilisateurs ou demandez à un administrateur.',
  payloads_for_admins: 'Seuls les administrateurs décident de conserver les arguments et les résultats des appels.',
  payloads_never:
    'Les appels de ce serveur contiennent des identifiants d’utilisateurs. Leurs arguments et résultats ne sont jamais conservés.',
  secrets_for_admins: 'Seuls les administrateurs décident du traitement des secrets dans les appels (secretsInCalls).',
  headers_for_admins: 'Seuls les administrateurs décident quels en-têtes de requête sont transmis.',
  sign_in_for_admins:
    'Seuls les administrateurs décident que chaque utilisateur se connecte lui-même (oauth.perUser), et où.',
  credentials_for_admins:
    'Seuls les administrateurs décident que les utilisateurs fournissent leurs propres identifiants (credentialTemplate), et où ils sont envoyés.',
  files_for_admins: 'Seuls les administrateurs peuvent insérer des fichiers de la machine du hub (${file:…}).',
  bundle_folder: 'Seul un bundle téléversé indique où il est décompressé.',
  keys_of_others: 'Seuls les administrateurs créent des clés qui ne sont pas les leurs.',
  reindex_running: 'Les outils sont déjà en cours d’indexation.',
  no_second_factor: 'L’utilisateur « {{name}} » n’a pas de second facteur.',
  factor_gone: 'Ce second facteur n’existe plus.',
  last_factor: 'Ce hub exige un second facteur. Configurez-en d’abord un autre.',
  factor_of_provider: 'Vous vous connectez chez un fournisseur, qui demande son propre second facteur.',
  no_grant: 'Cet accès n’existe plus.',
  no_guard: 'Il n’y a pas de garde actif « {{name}} ».',
  backup_running: 'Le hub crée déjà une sauvegarde. Réessayez quand elle est terminée.',
  too_many_pages: 'Trop de pages sont ouvertes. Fermez-en une ou réessayez plus tard.',
  server_not_in_group: 'Le serveur « {{name}} » n’est pas dans le groupe « {{group}} ».',
  group_not_yours: 'Vous ne pouvez pas modifier le groupe « {{name}} ».',
  no_item: 'Le serveur « {{server}} » n’offre pas « {{name}} ».',
  no_pins: 'Rien n’est épinglé pour un serveur « {{name}} ».',
  pins_of_other_version:
    'Une autre version du hub a enregistré ce qui est épinglé pour le serveur « {{name}} », et celle-ci ne peut pas le lire. Décidez sur un hub de cette version, ou mettez celui-ci à jour.',
  no_approval: 'Il n’y a pas d’approbation « {{name}} ».',
  approval_expired: 'La demande a expiré. L’appel doit être refait.',
  already_approved: 'Cela a déjà été approuvé par {{by}}.',
  already_denied: 'Cela a déjà été refusé par {{by}}.',
  already_withdrawn: 'Cela a déjà été retiré par {{by}}.',
  asker_gone: 'Cela a déjà été retiré : l’appelant n’a plus accès.',
  calls_wait: '{{count}} appels attendent déjà une approbation. Attendez d’abord les réponses.',
  approvals_full: 'Trop d’appels attendent une approbation. Réessayez plus tard.',
  no_database:
    'Il faut pour cela la base de données : ce hub fonctionne sans (DB_URL=off). Démarrez-le sans DB_URL, ou avec l’adresse d’une base PostgreSQL.',
  database_opening: 'Il faut pour cela la base de données, qui est en cours d’ouverture. Réessayez dans un instant.',
  database_down:
    'Il faut pour cela la base de données, qui est inaccessible. Le hub continue d’essayer ; réessayez dans un instant.',
  settings_busy: 'Les paramètres sont sans cesse modifiés en ce moment. Réessayez.',
  settings_broken: 'Les paramètres enregistrés sont inutilisables. Corrigez-les d’abord. {{why}}',
  names_taken: 'Des serveurs portent déjà ces noms : {{names}}. Renommez-les ou supprimez-les d’abord.',
  too_many_own: 'Il y en a déjà {{most}}. Supprimez-en un d’abord.',
  own_taken: '« {{name}} » existe déjà.',
  no_own: 'Cet élément n’existe plus.',
  override_name_only:
    'De l’outil « {{tool}} », vous ne pouvez modifier que le nom. Laissez le reste tel quel, ou demandez au propriétaire du serveur « {{server}} » ou à un administrateur.',
  app_unknown:
    'Ce hub ne connaît pas, ou plus, l’application qui vous a envoyé ici. Retirez le hub de l’application, puis ajoutez-le de nouveau.',
  app_elsewhere: 'L’application demande la réponse à une adresse qu’elle n’a pas enregistrée. Rien n’y a été envoyé.',
  app_undescribed:
    'L’application indique que sa description se trouve à {{url}}. Celle-ci est illisible ou n’est pas valable.',
  app_address:
    'L’application s’identifie par une adresse qui ne convient pas : il faut https et un chemin, sans « ? » ni « # ».',
  apps_looked_up: 'Trop d’applications sont en cours de recherche. Réessayez dans un instant.',
  apps_new: 'Trop de nouvelles applications depuis cette adresse. Réessayez plus tard.',
  registrations_many: 'Trop d’enregistrements depuis cette adresse. Réessayez plus tard.',
  page_over: 'Cette page est restée ouverte trop longtemps, ou votre compte a changé. Recommencez dans l’application.',
  reach_none: 'Choisissez ce à quoi elle peut accéder.',
  reach_many: 'C’est trop : choisissez des groupes, {{most}} noms au plus.',
  reach_unknown: 'Vous n’avez accès à aucun groupe ni serveur « {{name}} ».',
  reach_all_for_api: 'Pour qu’elle puisse gérer le hub, choisissez tout ci-dessus.',
  challenge_over: 'Cela a pris trop de temps, ou le compte a changé. Saisissez de nouveau le mot de passe.',
  login_changed: 'Le compte vient de changer. Reconnectez-vous.',
  code_refused: 'Le code est incorrect ou a déjà servi.',
  passkey_refused: 'La passkey n’a pas été acceptée.',
  factor_demanded:
    'Ce hub exige un second facteur. Configurez-le d’abord sur la page « Compte » du tableau de bord. Si vous en avez un, connectez-vous avec.',
  sign_in_over: 'Cette connexion ne peut pas aboutir : elle a expiré ou a déjà servi. Recommencez.',
  sign_in_elsewhere:
    'Cette connexion ne peut pas aboutir : elle a été commencée dans un autre navigateur. Commencez ici : {{where}}',
  sign_in_server_gone: 'Cette connexion ne peut pas aboutir : le serveur n’existe plus.',
  sign_in_user:
    'Cette connexion ne peut pas aboutir : la personne qui l’a commencée ne peut plus se connecter au serveur.',
  sign_in_set_up_again:
    'Cette connexion ne peut pas aboutir : le serveur « {{server}} » a été reconfiguré entre-temps. Recommencez.',
  sign_in_no_code: 'Cette connexion ne peut pas aboutir : la réponse ne contient pas de code. Recommencez.',
  sign_in_refused:
    'La connexion au serveur « {{server}} » y a été refusée{{why}}. Recommencez s’il s’agit d’une erreur.',
  provider_unknown: 'Ce fournisseur n’existe pas.',
  provider_login_old: 'Cette connexion a été commencée il y a trop longtemps. Recommencez dans l’application.',
  provider_login_late: 'Cette connexion a pris trop de temps. Recommencez dans l’application.',
  provider_login_elsewhere: 'Cette connexion n’a pas été commencée dans ce navigateur, ou elle a déjà servi.',
  provider_logins_at_once: 'Trop de connexions en ce moment. Réessayez.',
  provider_logins_failed: 'Trop de connexions ont échoué depuis cette adresse. Réessayez plus tard.',
  provider_refused:
    '{{name}} ne vous a pas laissé entrer. Retournez au hub et recommencez, ou demandez l’accès aux personnes qui gèrent {{name}}.',
  provider_not_its_answer:
    'Cette adresse n’est pas une de celles vers lesquelles {{name}} renvoie. Retournez au hub et recommencez.',
  provider_login_used:
    '{{name}} ne connaît plus cette connexion : elle a déjà servi ou a pris trop de temps. Retournez au hub et recommencez.',
  provider_away:
    '{{name}} est injoignable pour le moment : aucune connexion n’y est possible. Patientez un peu, puis recommencez.',
  provider_login_failed:
    'La connexion chez {{name}} a échoué. Retournez au hub et recommencez. Si elle échoue encore, prévenez un administrateur du hub, dont le journal indique la raison.',
  provider_no_account:
    'Vous n’avez pas de compte sur ce hub. Demandez à un administrateur de vous inviter, avec l’adresse e-mail que votre fournisseur a vérifiée.',
  provider_account_changed: 'Votre compte vient de changer. Recommencez.',
};
