import { sandboxReasons } from './sandbox-reasons.ts';
import type { HubTexts } from '../../hub-texts.ts';

export const reasons: HubTexts['reasons'] = {
  command_not_found: {
    text: 'No se ha encontrado el comando «{{command}}» en el PATH.',
    advice: 'Instálalo en la máquina del hub, o indica una ruta absoluta.',
  },
  command_misspelled: {
    text: 'No se ha encontrado el comando «{{command}}» en el PATH.',
    advice: '¿Querías decir «{{suggestion}}»? Si no, instálalo, o indica una ruta absoluta.',
  },
  launcher_not_found: {
    text: 'No se ha encontrado el comando «{{command}}» en el PATH.',
    advice: 'Instala {{product}} en la máquina del hub, o indica una ruta absoluta.',
  },
  file_not_found: { text: '«{{command}}» no existe.', advice: 'Corrige la ruta en «Comando».' },
  folder_not_found: { text: 'El directorio de trabajo «{{folder}}» no existe.', advice: 'Créalo, o corrige "cwd".' },
  not_executable: {
    text: '«{{command}}» no tiene permiso de ejecución.',
    advice: 'Comprueba sus permisos (chmod +x), o inícialo con su intérprete.',
  },
  ...sandboxReasons,
  no_room: {
    text: 'El sistema no puede iniciar más procesos ({{error}}).',
    advice: 'Cierra otros programas, o aumenta los límites de procesos y archivos abiertos.',
  },
  npm_package_not_found: {
    text: 'El paquete «{{package}}» no existe en el registro de npm, o es privado.',
    advice: 'Comprueba su nombre en «Argumentos»; uno privado necesita un token en .npmrc.',
  },
  python_package_not_found: {
    text: 'No hay ningún paquete de Python «{{package}}» que se pueda instalar.',
    advice: 'Comprueba su nombre y versión en «Argumentos».',
  },
  package_version_not_found: {
    text: 'El paquete existe, pero no en la versión pedida: {{package}}.',
    advice: 'Corrige la versión en «Argumentos», u omítela.',
  },
  package_without_program: {
    text: 'El paquete se ha instalado, pero no contiene ningún programa ejecutable.',
    advice:
      'Comprueba su nombre en «Argumentos»: quizá sea una biblioteca, o el programa se llame de otro modo (npx -p <paquete> <programa>).',
  },
  image_not_found: {
    text: 'No se puede obtener la imagen «{{image}}»: no existe, o es privada.',
    advice: 'Comprueba su nombre y etiqueta en «Argumentos», o inicia sesión en su registro (docker login).',
  },
  docker_not_running: { text: 'Docker no responde.', advice: 'Inícialo, y compruébalo con "docker version".' },
  registry_refused: {
    text: 'El registro de paquetes ha rechazado la petición ({{code}}).',
    advice: 'Comprueba su token en .npmrc.',
  },
  registry_unreachable: {
    text: 'No se puede conectar con el registro de paquetes ({{code}}).',
    advice: 'Comprueba la red, el DNS y el proxy de la máquina del hub.',
  },
  disk_full: { text: 'El disco está lleno.', advice: 'Libera espacio en la máquina del hub.' },
  module_not_found: {
    text: 'Al programa le falta el módulo «{{module}}».',
    advice: 'Instala lo que necesita el programa, en la carpeta o el entorno desde donde se inicia.',
  },
  script_not_found: {
    text: 'El archivo que se debe ejecutar, «{{file}}», no existe.',
    advice: 'Corrige la ruta en «Argumentos»; las relativas parten de "cwd".',
  },
  program_not_found: {
    text: 'El comando ejecuta «{{command}}», que no se ha encontrado.',
    advice: 'Instálalo en la máquina del hub, o corrige los argumentos.',
  },
  value_missing: { text: 'El programa pide {{name}}: {{line}}', advice: 'Define {{name}} en «Variables de entorno».' },
  value_refused: {
    text: 'El programa no ha podido autenticarse con lo que ha recibido: {{line}}',
    advice: 'Comprueba el token o la contraseña en «Variables de entorno».',
  },
  wrong_arguments: { text: 'El programa no acepta sus argumentos: {{line}}', advice: 'Corrige los argumentos.' },
  port_taken: {
    text: 'El programa quiere un puerto que ya ocupa otro: {{line}}',
    advice: 'Cierra el otro programa, o asigna otro puerto a este.',
  },
  not_permitted: {
    text: 'El programa no tiene permiso para usar un archivo o una carpeta: {{line}}',
    advice: 'Da ese permiso al usuario con el que se ejecuta el hub.',
  },
  peer_unreachable: {
    text: 'El programa no puede conectar con algo de lo que depende: {{line}}',
    advice: 'Comprueba que esté en marcha, y la dirección que ha recibido el programa.',
  },
  stdout_noise: {
    text: 'El servidor no ha respondido en {{seconds}} s. Ha escrito en stdout algo que no es un mensaje MCP: «{{line}}».',
    advice: 'Comprueba que el comando inicia un servidor MCP que se comunica por stdio; los logs van a stderr.',
  },
  exited_after_noise: {
    text: 'El programa ha terminado con el código {{code}}. Ha escrito en stdout algo que no es un mensaje MCP: «{{line}}».',
    advice: 'Comprueba que el comando inicia un servidor MCP que se comunica por stdio.',
  },
  exited: {
    text: 'El programa ha terminado con el código {{code}}: {{line}}',
    advice: 'Sus últimas líneas dicen más. Corrige lo que indican, o el comando y sus argumentos.',
  },
  exited_silently: {
    text: 'El programa ha terminado con el código {{code}}, sin decir por qué.',
    advice: 'Ejecuta el comando a mano en la máquina del hub para ver qué hace.',
  },
  install_failed_silently: {
    text: 'La instalación del paquete ha terminado con el código {{code}}, sin decir por qué.',
    advice:
      'Puede haber fallado un script de un paquete, por ejemplo uno que descarga un navegador. Ejecuta el comando a mano en la máquina del hub con --foreground-scripts como primer argumento, que muestra lo que imprimen los scripts.',
  },
  killed: {
    text: 'El programa ha terminado por la señal {{signal}}.',
    advice: 'Con SIGKILL, quizá al sistema le faltaba memoria; sus últimas líneas pueden decir más.',
  },
  hung_up: {
    text: 'El programa cerró {{pipe}} pero siguió en marcha, así que se ha terminado.',
    advice: 'Comprueba que el comando inicia un servidor MCP que se comunica por stdio.',
  },
  silent: {
    text: 'El servidor no ha respondido en {{seconds}} s, ni ha escrito nada.',
    advice: 'Comprueba que el comando inicia un servidor MCP que se comunica por stdio, y que no espera otra cosa.',
  },
  slow: {
    text: 'El servidor no ha respondido en {{seconds}} s. Lo último que ha escrito: {{line}}',
    advice:
      'Si solo necesita más tiempo, los próximos intentos le darán más; CONNECT_TIMEOUT_MS lo hace desde el principio.',
  },
  installs_long: {
    text: 'El paquete no se ha instalado en {{minutes}} min.',
    advice: '{{launcher}} sigue por su cuenta, y el próximo intento lo espera.',
  },
  credential_refused: {
    text: '{{where}} ha respondido {{status}}: no acepta las credenciales, o pide unas.',
    advice: 'Comprueba el token en «Encabezados» (Authorization): puede faltar, haber caducado o ser de otra cuenta.',
  },
  credential_insufficient: {
    text: '{{where}} ha respondido {{status}}: las credenciales no lo permiten.',
    advice: 'Da al token los permisos que necesita el servidor, o usa otro.',
  },
  no_sign_in: {
    text: '{{where}} pide credenciales y no ofrece un inicio de sesión (OAuth) que el hub pueda usar.',
    advice: 'Dale un token en «Encabezados» (Authorization), o indica su servidor de autorización en "oauth.issuer".',
  },
  no_endpoint: {
    text: '{{where}} ha respondido {{status}}.',
    advice: '¿Es esta la dirección de su endpoint MCP? Muchas terminan en /mcp o /sse.',
  },
  web_page: {
    text: '{{where}} ha respondido con una página web.',
    advice: '¿Es esta la dirección de su endpoint MCP? Muchas terminan en /mcp o /sse.',
  },
  not_mcp: {
    text: '{{where}} ha respondido {{status}} con algo que no es un mensaje MCP.',
    advice: '¿Es esta la dirección de su endpoint MCP?',
  },
  redirected: {
    text: '{{where}} redirige a {{target}}, otro origen, y el hub no lo sigue.',
    advice: 'Si ese es el servidor, ponlo como URL.',
  },
  redirected_in_a_circle: {
    text: '{{where}} redirige demasiadas veces.',
    advice: 'Abre la dirección en un navegador, y usa aquella en la que termina.',
  },
  too_many_requests: {
    text: '{{where}} ha respondido {{status}}: recibe demasiadas peticiones.',
    advice: 'El hub espera más entre intentos; quizá haya que aumentar los límites de la cuenta.',
  },
  server_fault: {
    text: '{{where}} ha respondido {{status}}.',
    advice: 'El fallo está en el servidor: consulta su propio log.',
  },
  silent_address: {
    text: 'El servidor no ha respondido en {{seconds}} s.',
    advice: 'La dirección responde. Consulta el log del servidor, o de un proxy delante de él.',
  },
  api_not_fetched: {
    text: 'El documento OpenAPI en {{where}} respondió {{status}}.',
    advice: 'Comprueba su dirección en "openapi.url".',
  },
  api_credential: {
    text: 'El documento OpenAPI en {{where}} respondió {{status}}: no es accesible para todos.',
    advice: 'Dale credenciales con "openapi.specSecurity".',
  },
  api_unreadable: {
    text: 'No se pudo leer el documento OpenAPI: {{why}}.',
    advice: 'Corrígelo en ese lugar, o su dirección en "openapi.url".',
  },
  api_no_document: {
    text: 'Lo que hay en {{where}} no es un documento OpenAPI.',
    advice: '¿Es la dirección de la página de documentación y no la del documento?',
  },
  api_swagger: {
    text: 'El documento en {{where}} es Swagger 2.0, que no se admite.',
    advice: 'Conviértelo a OpenAPI 3, por ejemplo con https://converter.swagger.io.',
  },
  api_version: {
    text: 'El documento en {{where}} no dice que sea OpenAPI 3.',
    advice: 'Su miembro "openapi" debe ser "3.0.x" o "3.1.x".',
  },
  api_without_operations: {
    text: 'El documento OpenAPI no tiene ninguna operación que se pueda usar: {{why}}.',
    advice: 'Corrígelo, o usa el documento de otra versión de la API.',
  },
  api_failed: {
    text: 'No se pudo leer la API: {{why}}',
    advice: 'El registro dice más. Si el documento es correcto, informa de ello.',
  },
  port_closed: {
    text: 'No se puede conectar con {{where}}: conexión rechazada.',
    advice: '¿Está en marcha el servidor?',
  },
  host_unknown: {
    text: 'No se puede conectar con {{where}}: no se conoce su nombre de host.',
    advice: 'Comprueba la dirección en {{setting}}, y el DNS.',
  },
  no_route: {
    text: 'No se puede conectar con {{where}}: no hay ruta hasta el host ({{code}}).',
    advice: 'Comprueba la red y los cortafuegos.',
  },
  no_connection_in_time: {
    text: 'No se puede conectar con {{where}}: no hubo conexión en el tiempo previsto.',
    advice: '¿Es correcta la dirección? ¿La bloquea un cortafuegos?',
  },
  tls_self_signed: {
    text: 'No se puede conectar con {{where}}: su certificado es autofirmado.',
    advice: 'Añade el certificado con NODE_EXTRA_CA_CERTS.',
  },
  tls_unknown_issuer: {
    text: 'No se puede conectar con {{where}}: no se conoce al emisor de su certificado.',
    advice: 'Añade el certificado del emisor con NODE_EXTRA_CA_CERTS.',
  },
  tls_expired: {
    text: 'No se puede conectar con {{where}}: su certificado ha caducado.',
    advice: 'Hay que renovarlo en el servidor.',
  },
  tls_not_valid_yet: {
    text: 'No se puede conectar con {{where}}: su certificado aún no es válido.',
    advice: 'Comprueba la hora de la máquina.',
  },
  tls_other_name: {
    text: 'No se puede conectar con {{where}}: su certificado es de otro nombre de host.',
    advice: 'Usa el nombre que figura en el certificado.',
  },
  tls_not_spoken: {
    text: 'No se puede conectar con {{where}}: no admite TLS.',
    advice: '¿Debería empezar la dirección por http://?',
  },
  tls_failed: {
    text: 'No se puede conectar con {{where}}: no se logra una conexión segura ({{code}}).',
    advice: 'Comprueba qué versiones de TLS admite cada lado.',
  },
  http_not_spoken: { text: 'No se puede conectar con {{where}}: no admite HTTP.', advice: '¿Es correcto el puerto?' },
  sign_in_needed: {
    text: 'El servidor pide iniciar sesión.',
    advice: 'Inicia sesión en él una vez, en su página del panel.',
  },
};
