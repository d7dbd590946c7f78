import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import chromium, { inflate } from '@sparticuz/chromium'
import { type Browser, type Page, chromium as starter } from 'playwright-core'

const shipped = path.resolve(fileURLToPath(import.meta.resolve('@sparticuz/chromium')), '../..')

/** Starts the Chromium that a package ships, with the libraries that a bare system lacks. The caller closes it. */
export async function startBrowser(): Promise<Browser> {
  const folder = await unpacked()
  return starter.launch({
    executablePath: path.join(folder, 'chromium'),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu'],
    env: { HOME: tmpdir(), LD_LIBRARY_PATH: path.join(folder, 'al2023/lib') },
  })
}

/** The folder with the browser and its libraries, which are unpacked once for all runs: that takes seconds and 200 MB. */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(shipped, 'package.json'), 'utf8'))
  const folder = path.resolve(`node_modules/.cache/chromium-${version}`)
  if (existsSync(folder)) return folder
  const unfinished = await mkdtemp(`${folder}-`)
  const { TMPDIR } = process.env
  // The package unpacks into the temporary folder, and nowhere else.
  process.env.TMPDIR = unfinished
  try {
    chromium.setGraphicsMode = false
    await inflate(path.join(shipped, 'bin/al2023.tar.br'))
    await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
  // Another run may have been faster with the same.
  await rename(unfinished, folder).catch((error: unknown) => {
    if (!existsSync(folder)) throw error
    return rm(unfinished, { recursive: true })
  })
  return folder
}

/** What went wrong in a page meanwhile: errors of its scripts, breaches of its policy, and requests to other places. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`)
  })
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && origin !== new URL(page.url()).origin && page.url() !== 'about:blank')
      faults.push(`a request to ${request.url()}`)
  })
  return faults
}
