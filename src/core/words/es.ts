import type { SentenceWords } from './sentence-words.ts';

export const sentences: SentenceWords = {
  wrong_login: 'Nombre de usuario o contraseña incorrectos.',
  wrong_password: 'La contraseña es incorrecta.',
  wrong_current_password: 'La contraseña actual es incorrecta.',
  too_many_logins: 'Demasiados inicios de sesión fallidos. Inténtalo de nuevo en {{time}}.',
  login_over: 'La sesión ya no es válida. Inicia sesión de nuevo.',
  admins_only: 'Solo los administradores pueden hacer esto.',
  read_only: 'Este hub es de solo lectura (READONLY).',
  not_yours: 'Pertenece a {{owner}}. Pídeselo a esa persona o a un administrador.',
  name_taken: 'El nombre «{{name}}» ya está en uso. Elige otro.',
  no_server: 'No hay ningún servidor «{{name}}».',
  no_group: 'No hay ningún grupo «{{name}}».',
  no_user: 'No hay ningún usuario «{{name}}».',
  no_activity: 'No hay ningún registro «{{name}}».',
  no_such_tool: 'El servidor «{{server}}» no tiene ninguna herramienta «{{name}}».',
  no_such_prompt: 'El servidor «{{server}}» no tiene ningún prompt «{{name}}».',
  server_installing:
    'El servidor «{{server}}» aún se está instalando, lo que puede tardar minutos. Inténtalo más tarde.',
  server_connecting: 'El servidor «{{server}}» aún se está conectando. Inténtalo dentro de un momento.',
  server_away: 'El servidor «{{server}}» no está conectado. Próximo intento en {{seconds}} s.',
  server_faulty:
    'El servidor «{{server}}» no ha dado una respuesta correcta. Su propietario y los administradores ven el motivo en el log.',
  server_lost:
    'La conexión con el servidor «{{server}}» se cortó antes de la respuesta. No se sabe si la llamada se ejecutó.',
  server_late: 'El servidor «{{server}}» no ha respondido en {{seconds}} s.',
  server_disabled: 'El servidor está desactivado. Actívalo.',
  own_account: 'Es tu propia cuenta. Pídeselo a otro administrador.',
  no_other_admin: 'No hay ningún otro administrador. Haz primero administrador a otro usuario.',
  no_key: 'No hay ninguna clave de acceso «{{name}}».',
  too_many_keys: 'Ya hay {{most}}. Elimina primero una.',
  not_in_group: 'El servidor no está en el grupo. Añádelo primero.',
  private_address:
    '{{address}} no está en la internet pública. Solo los administradores conectan servidores de esta red.',
  programs_for_admins: 'Solo los administradores inician programas en la máquina del hub.',
  logins_at_once: 'Demasiados inicios de sesión a la vez. Inténtalo de nuevo en unos segundos.',
  upload_too_large: 'El archivo subido supera los {{megabytes}} MB.',
  pin_changed: '«{{name}}» del servidor «{{server}}» ha cambiado desde que lo miraste. Compáralo de nuevo.',
  no_credentials: 'Los usuarios no indican credenciales para el servidor «{{name}}».',
  changed_meanwhile: 'Otra petición acaba de cambiarlo. Vuelve a iniciar sesión.',
  no_session: 'Esa sesión ya no existe.',
  owner_for_admins: 'Solo los administradores pueden dárselo a otro usuario.',
  public_for_admins:
    'Solo los administradores pueden hacerlo público. Compártelo con usuarios o pregunta a un administrador.',
  payloads_for_admins: 'Solo los administradores deciden si se guardan los argumentos y resultados de las llamadas.',
  payloads_never:
    'Las llamadas de este servidor llevan credenciales de los usuarios. Sus argumentos y resultados nunca se guardan.',
  secrets_for_admins: 'Solo los administradores deciden qué ocurre con los secretos en las llamadas (secretsInCalls).',
  headers_for_admins: 'Solo los administradores deciden qué cabeceras de las peticiones se reenvían.',
  sign_in_for_admins:
    'Solo los administradores deciden si cada usuario inicia sesión por su cuenta (oauth.perUser), y dónde.',
  credentials_for_admins:
    'Solo los administradores deciden si los usuarios indican sus propias credenciales (credentialTemplate), y adónde van.',
  files_for_admins: 'Solo los administradores pueden insertar archivos de la máquina del hub (${file:…}).',
  bundle_folder: 'Solo un paquete subido indica dónde se descomprime.',
  keys_of_others: 'Solo los administradores crean claves que no son suyas.',
  reindex_running: 'Las herramientas ya se están indexando.',
  no_second_factor: 'El usuario «{{name}}» no tiene un segundo factor.',
  factor_gone: 'Ese segundo factor ya no existe.',
  last_factor: 'Este hub exige un segundo factor. Configura antes otro.',
  factor_of_provider: 'Inicias sesión con un proveedor, que pide su propio segundo factor.',
  no_grant: 'Ese acceso ya no existe.',
  no_guard: 'No hay ninguna guarda activa «{{name}}».',
  backup_running: 'El hub ya está creando una copia de seguridad. Inténtalo de nuevo cuando termine.',
  too_many_pages: 'Hay demasiadas páginas abiertas. Cierra una o inténtalo más tarde.',
  server_not_in_group: 'El servidor «{{name}}» no está en el grupo «{{group}}».',
  group_not_yours: 'No puedes cambiar el grupo «{{name}}».',
  no_item: 'El servidor «{{server}}» no tiene «{{name}}».',
  no_pins: 'No hay nada fijado de un servidor «{{name}}».',
  pins_of_other_version:
    'Otra versión del hub guardó lo fijado del servidor «{{name}}», y esta no puede leerlo. Decide en un hub de esa versión, o actualiza este.',
  no_approval: 'No hay ninguna aprobación «{{name}}».',
  approval_expired: 'La pregunta ha caducado. Hay que hacer la llamada de nuevo.',
  already_approved: '{{by}} ya lo ha aprobado.',
  already_denied: '{{by}} ya lo ha rechazado.',
  already_withdrawn: '{{by}} ya lo ha retirado.',
  asker_gone: 'Ya se ha retirado: quien llama ya no tiene acceso.',
  calls_wait: 'Ya hay {{count}} llamadas que esperan aprobación. Espera antes las respuestas.',
  approvals_full: 'Demasiadas llamadas esperan aprobación. Inténtalo más tarde.',
  no_database:
    'Esto necesita la base de datos: este hub funciona sin ella (DB_URL=off). Inícialo sin DB_URL, o con la dirección de un PostgreSQL.',
  database_opening: 'Esto necesita la base de datos, que todavía se está abriendo. Inténtalo de nuevo en un momento.',
  database_down:
    'Esto necesita la base de datos, que no está disponible. El hub lo sigue intentando; inténtalo de nuevo en un momento.',
  settings_busy: 'La configuración está cambiando continuamente. Inténtalo de nuevo.',
  settings_broken: 'La configuración guardada no se puede usar. Corrígela primero. {{why}}',
  names_taken: 'Ya hay servidores con estos nombres: {{names}}. Cámbiales el nombre o elimínalos primero.',
  too_many_own: 'Ya hay {{most}}. Elimina uno primero.',
  own_taken: '«{{name}}» ya existe.',
  no_own: 'Ya no existe.',
  override_name_only:
    'De la herramienta «{{tool}}» solo puedes cambiar el nombre. Deja lo demás como está, o pregunta al propietario del servidor «{{server}}» o a un administrador.',
  app_unknown:
    'Este hub no conoce la aplicación que te ha enviado aquí, o ya no la conoce. Quita el hub de la aplicación y vuelve a añadirlo.',
  app_elsewhere: 'La aplicación quiere la respuesta en una dirección que no ha registrado. No se ha enviado nada allí.',
  app_undescribed:
    'La aplicación dice que su descripción está en {{url}}. Lo que hay allí no se puede leer o no es válido.',
  app_address:
    'La aplicación se identifica con una dirección que no puede serlo: necesita https y una ruta, sin «?» ni «#».',
  apps_looked_up: 'Se están consultando demasiadas aplicaciones. Inténtalo de nuevo en un momento.',
  apps_new: 'Demasiadas aplicaciones nuevas desde esta dirección. Inténtalo más tarde.',
  registrations_many: 'Demasiados registros desde esta dirección. Inténtalo más tarde.',
  page_over:
    'Esta página ha estado abierta demasiado tiempo, o tu cuenta ha cambiado. Empieza de nuevo en la aplicación.',
  reach_none: 'Elige a qué puede acceder.',
  reach_many: 'Son demasiados: elige grupos, {{most}} nombres como máximo.',
  reach_unknown: 'Para ti no hay ningún grupo ni servidor «{{name}}».',
  reach_all_for_api: 'Para que pueda administrar el hub, elige todo arriba.',
  challenge_over: 'Ha tardado demasiado, o la cuenta ha cambiado. Escribe la contraseña otra vez.',
  login_changed: 'La cuenta acaba de cambiar. Inicia sesión de nuevo.',
  code_refused: 'El código es incorrecto o ya se ha usado.',
  passkey_refused: 'La passkey no se ha aceptado.',
  factor_demanded:
    'Este hub exige un segundo factor. Configúralo primero en la página «Cuenta» del panel. Si ya tienes uno, inicia sesión con él.',
  sign_in_over: 'Este inicio de sesión no se puede terminar: ha caducado o ya se ha usado. Empieza de nuevo.',
  sign_in_elsewhere: 'Este inicio de sesión no se puede terminar: se empezó en otro navegador. Empieza aquí: {{where}}',
  sign_in_server_gone: 'Este inicio de sesión no se puede terminar: el servidor ya no existe.',
  sign_in_user:
    'Este inicio de sesión no se puede terminar: el usuario que lo empezó ya no puede iniciar sesión en el servidor.',
  sign_in_set_up_again:
    'Este inicio de sesión no se puede terminar: el servidor «{{server}}» se ha configurado de nuevo. Empieza otra vez.',
  sign_in_no_code: 'Este inicio de sesión no se puede terminar: la respuesta no tiene código. Empieza de nuevo.',
  sign_in_refused:
    'El inicio de sesión en el servidor «{{server}}» se ha rechazado allí{{why}}. Empieza de nuevo si ha sido un error.',
  provider_unknown: 'Ese proveedor no existe.',
  provider_login_old: 'Este inicio de sesión se empezó hace demasiado tiempo. Empieza de nuevo en la aplicación.',
  provider_login_late: 'Este inicio de sesión ha tardado demasiado. Empieza de nuevo en la aplicación.',
  provider_login_elsewhere: 'Este inicio de sesión no se empezó en este navegador, o ya se ha usado.',
  provider_logins_at_once: 'Hay demasiados inicios de sesión en este momento. Inténtalo de nuevo.',
  provider_logins_failed: 'Demasiados inicios de sesión fallidos desde esta dirección. Inténtalo más tarde.',
  provider_refused:
    '{{name}} no te ha dejado entrar. Vuelve al hub y empieza de nuevo, o pide acceso a quienes administran {{name}}.',
  provider_not_its_answer: '{{name}} no envía a nadie a esta dirección. Vuelve al hub y empieza de nuevo.',
  provider_login_used:
    '{{name}} ya no conoce este inicio de sesión: ya se ha usado o ha tardado demasiado. Vuelve al hub y empieza de nuevo.',
  provider_away:
    'Ahora no se puede conectar con {{name}}, así que nadie puede iniciar sesión allí. Espera un poco y empieza de nuevo.',
  provider_login_failed:
    'El inicio de sesión en {{name}} no ha funcionado. Vuelve al hub y empieza de nuevo. Si vuelve a fallar, avisa a un administrador del hub, cuyo log indica el motivo.',
  provider_no_account:
    'No tienes cuenta en este hub. Pide a un administrador que te invite con la dirección de correo que tu proveedor ha verificado.',
  provider_account_changed: 'Tu cuenta acaba de cambiar. Empieza de nuevo.',
};
