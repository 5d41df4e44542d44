/** Why a server in a sandbox does not start: a part of `reasons`. */
export const sandboxReasons = {
  sandbox_missing: {
    text: 'El servidor debe ejecutarse en un entorno aislado, y el comando "bwrap" (bubblewrap) no está en esta máquina.',
    advice: 'Instala el paquete bubblewrap, o pon "sandbox" del servidor en false.',
  },
  container_missing: {
    text: 'El servidor debe ejecutarse en un contenedor, y ni "docker" ni "podman" están en esta máquina.',
    advice: 'Instala uno de los dos, o quita "container" del servidor.',
  },
  sandbox_forbidden: {
    text: 'El sistema no deja que el hub cree un entorno aislado: {{line}}',
    advice: 'Permite los espacios de nombres de usuario al usuario del hub, o pon "sandbox" del servidor en false.',
  },
  sandbox_path: {
    text: 'No existe «{{path}}», que debe estar en el entorno aislado.',
    advice: 'Créalo, o corrige "{{list}}".',
  },
  sandbox_secret: {
    text: '«{{path}}» es o contiene lo que ningún entorno aislado tiene: la carpeta de datos o los ajustes del hub, o el propio sistema.',
    advice:
      'Indica en "{{list}}" carpetas que no los contengan, o traslada la carpeta de datos y los ajustes a otro lugar.',
  },
  sandbox_nested: {
    text: '«{{path}}» está dentro de una carpeta en la que el entorno aislado puede escribir, o pasa por una: el programa podría poner un enlace en su lugar.',
    advice: 'Indica en "{{list}}" rutas fuera de "sandbox.write".',
  },
  sandbox_program: {
    text: 'El programa «{{command}}» no está en su entorno aislado.',
    advice: 'Añade su carpeta a "sandbox.read".',
  },
};
