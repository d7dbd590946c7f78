import type { Hooks } from '#kernel'

/** What a module does to calls, by the names of its hooks. */
export const hooksOf = (hooks: Hooks): string[] =>
  Object.entries(hooks).flatMap(([name, hook]) =>
    hook === undefined || typeof hook === 'boolean' ? [] : [name],
  )
