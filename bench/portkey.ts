import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './port.ts'
import { NodeProcess, SERVER_CORE } from './process.ts'
import { origin, type Target } from './target.ts'

const PACKAGE = '@portkey-ai/gateway'
const VERSION = '1.15.2'
/**
 * The oldest of each that its own package.json allows: with the newest (node-server 1.19) every stream is answered
 * with 500, because headers of a response that it passes on have become immutable.
 */
const OVERRIDES = { hono: '4.9.7', '@hono/node-server': '1.3.3' }

const BOOT_MS = 30_000

/** Installs the peer into a temporary folder, starts it, and removes the folder when it is stopped. */
export async function startPortkey(upstreamPort: number): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-peer-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, overrides: OVERRIDES }))
    const options = ['--no-audit', '--no-fund', '--ignore-scripts']
    await promisify(execFile)('npm', ['install', ...options, `${PACKAGE}@${VERSION}`], { cwd: folder })
    const port = await freePort()
    const process = new NodeProcess({
      file: join(folder, 'node_modules', PACKAGE, 'build', 'start-server.js'),
      args: ['--headless', `--port=${port}`],
      core: SERVER_CORE,
      cwd: folder,
    })
    await listening(port, process)
    return {
      name: `portkey ${VERSION}`,
      port,
      process,
      headers: {
        authorization: 'Bearer sk-bench',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${origin(upstreamPort)}/v1`,
      },
      async stop() {
        await process.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function listening(port: number, process: NodeProcess): Promise<void> {
  const deadline = Date.now() + BOOT_MS
  while (process.running && Date.now() < deadline) {
    const socket = connect(port, '127.0.0.1')
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (open) return
    await sleep(100)
  }
  throw new Error(`${PACKAGE} was not ready within ${BOOT_MS} ms; it said:\n${process.output}`)
}
