import { beforeAll, expect, vi } from 'vitest'

/**
 * Compares the process before the tests of a file and after them: many files share one, so each has to leave it as it
 * found it. A file that does not fails here and says what it left, instead of failing another one.
 */

/** What the runtime calls things that stay until whoever opened them closes them. */
const handles = new Set([
  'TCPServerWrap',
  'PipeServerWrap',
  'ProcessWrap',
  'FSEventWrap',
  'StatWatcher',
  'Worker',
])

const opened = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((name) => handles.has(name))
    .sort()

/** Written by libvips when it is loaded, for good. */
const lasting = new Set(['VIPSHOME'])

/** What a file may change but has to put back, each as a text. */
const surroundings = (): ReadonlyMap<string, string> =>
  new Map([
    ['the working folder', process.cwd()],
    ...Object.entries(process.env)
      .filter(([name]) => !lasting.has(name))
      .map(([name, value]) => [`variable ${name}`, value!] as const),
    ...process.eventNames().map((event) => {
      return [`listeners to ${String(event)}`, String(process.listenerCount(event))] as const
    }),
  ])

/** Names alone: values may be secrets. */
const changed = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))

// The first hook of all: what it returns runs when all that the file has to clean up has run.
beforeAll(() => {
  const [before, openBefore] = [surroundings(), opened()]
  return async () => {
    expect(vi.isFakeTimers(), 'the clock is a fake one').toBe(false)
    expect(changed(before, surroundings()), 'not as it was').toEqual([])
    const isClosed = (): void => expect(opened(), 'something is still open').toEqual(openBefore)
    await vi.waitFor(isClosed, { timeout: 5_000 })
  }
})
