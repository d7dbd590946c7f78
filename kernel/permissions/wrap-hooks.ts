import type { Hooks } from '../chain/hooks.ts'
import type { Detection } from '../detect/detect.ts'

/** For hooks by their names, what stands in the place of each. */
export type HookWrappers = {
  readonly [K in keyof Hooks]?: (hook: NonNullable<Hooks[K]>) => Hooks[K]
}

/** The hooks of a module with others in their places; those that it has not stay absent. */
export function wrapHooks(hooks: Hooks, wrappers: HookWrappers): Hooks {
  const wrapped = Object.entries(hooks).map(([name, hook]: [string, unknown]) => {
    const wrap = wrappers[name as keyof Hooks] as ((hook: unknown) => unknown) | undefined
    return [name, hook !== undefined && wrap ? wrap(hook) : hook]
  })
  return Object.fromEntries(wrapped)
}

/** What a module looks for, each detection passed through a function. */
export const mapDetections = (
  { request, reply }: NonNullable<Hooks['detect']>,
  map: (detection: Detection) => Detection,
): NonNullable<Hooks['detect']> => ({
  ...(request && { request: map(request) }),
  ...(reply && { reply: map(reply) }),
})
