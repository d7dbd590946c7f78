import type { Context, SharedWindows, WindowOptions, Windows } from '#kernel'
import { surely } from './surely.ts'

interface Of {
  readonly name: string
  readonly options: WindowOptions
}

/** Windows that the first thread keeps for all. */
export function sharedWindows(
  { inFirstThread, askFirstThread }: Pick<Context<unknown>, 'inFirstThread' | 'askFirstThread'>,
  windows: (name: string, options: WindowOptions) => Windows,
): (name: string, options: WindowOptions) => SharedWindows {
  const those = ({ name, options }: Of): Windows => windows(name, options)
  const add = inFirstThread('add', (to: Of & { group: string; value: number }) =>
    those(to).add(to.group, to.value),
  )
  const read = askFirstThread('read', (of: Of & { group: string }) => those(of).read(of.group))
  const quantile = askFirstThread(
    'quantile',
    (of: Of & { group: string; share: number }) => those(of).quantile(of.group, of.share) ?? null,
  )
  const groups = askFirstThread('groups', (of: Of) => those(of).groups())
  return (name, options) => ({
    add: (group, value) => add({ name, options, group, value }),
    read: (group) => surely(read({ name, options, group })),
    quantile(group, share) {
      const found = surely(quantile({ name, options, group, share }))
      return found instanceof Promise ? found.then((value) => value ?? undefined) : (found ?? undefined)
    },
    groups: () => surely(groups({ name, options })),
  })
}
