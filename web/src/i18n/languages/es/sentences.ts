import type { HubTexts } from '../../hub-texts.ts';

export const sentences: HubTexts['sentences'] = {
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
};
