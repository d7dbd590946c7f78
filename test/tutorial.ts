import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import type { Outside } from './outside.ts'
import type { GatewayProcess } from './process.ts'

/** What was done for one block of a page, and how long it took. */
export interface Step {
  readonly what: string
  readonly seconds: number
}

const patient = { timeout: 120_000, interval: 100 }

/**
 * Does what a page says, in a folder of its own: runs its commands, makes its changes, and waits for the output that it shows, in which
 * times may differ. Resolves with the steps, the output of the last command and the gateway that was started.
 */
export async function followPage(
  page: string,
  outside: Outside,
  below: string,
  env: Readonly<Record<string, string>>,
): Promise<{ steps: Step[]; last: string; gateway: GatewayProcess }> {
  const site = path.join(outside.folder, below)
  await mkdir(site)
  const steps: Step[] = []
  let last = ''
  let session: Session | undefined
  let gateway: GatewayProcess | undefined
  const run = async (command: string): Promise<void> => {
    if (command.startsWith('npm install ')) return
    await session?.end()
    session = undefined
    if (command.includes(' plugin dev '))
      // Without npx, which ends at a signal before what it has started does.
      session = new Session(
        outside.spawn(command.replace(/^npx /, '').split(' ') as [string, ...string[]], below),
      )
    else if (command.endsWith('switchyard start')) gateway = await outside.start(below, env)
    else last = await outside.succeed(['sh', '-c', command], below)
  }
  try {
    for (const { language, body, file } of blocksOf(page)) {
      const began = performance.now()
      const lines = body.trim().split('\n')
      if (language === 'sh') for (const command of lines) await run(command)
      if (language === 'diff') {
        session?.forget()
        await change(path.join(site, file!), lines)
      }
      if (language === 'text') for (const line of lines) await session!.shows(line.trim())
      steps.push({ what: `${language}: ${lines[0]!.trim()}`, seconds: (performance.now() - began) / 1000 })
    }
    return { steps, last, gateway: gateway! }
  } catch (error) {
    await session?.end()
    await gateway?.end('SIGTERM')
    throw error
  }
}

interface Block {
  readonly language: string
  readonly body: string
  /** The file that the text before it names last. */
  readonly file: string | undefined
}

function blocksOf(page: string): Block[] {
  const parts = page.split('```')
  return parts.flatMap((part, n) => {
    if (n % 2 === 0) return []
    const [language = '', ...rest] = part.split('\n')
    const file = [...parts[n - 1]!.matchAll(/In `([^`]+)`/g)].at(-1)?.[1]
    return [{ language, body: rest.join('\n'), file }]
  })
}

/** Puts lines with `+` in the place of those with `-`. */
async function change(file: string, lines: readonly string[]): Promise<void> {
  const marked = (mark: string): string =>
    lines.flatMap((line) => (line.startsWith(mark) ? [line.slice(1)] : [])).join('\n')
  const text = await readFile(file, 'utf8')
  expect(text).toContain(marked('-'))
  await writeFile(
    file,
    text.replace(marked('-'), () => marked('+')),
  )
}

/** A command that goes on while the page goes on. */
class Session {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #output = ''

  constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit')
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
  }

  /** From now on only what comes later is looked at. */
  forget(): void {
    this.#output = ''
  }

  async shows(line: string): Promise<void> {
    const escaped = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+(?= [mµ]s\b)/g, '\\d+')
    await expect.poll(() => this.#output, patient).toMatch(new RegExp(escaped))
  }

  async end(): Promise<void> {
    process.kill(-this.#child.pid!, 'SIGINT')
    await this.#ended
  }
}
