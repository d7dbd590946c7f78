import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import chromium, { inflate } from '@sparticuz/chromium'
import { type Browser, type Page, chromium as starter } from 'playwright-core'

/** Starts the Chromium that a package ships, with the libraries that a bare system lacks. The caller closes it. */
export async function startBrowser(): Promise<Browser> {
  const shipped = path.resolve(fileURLToPath(import.meta.resolve('@sparticuz/chromium')), '../../bin')
  const libraries = path.join(await inflate(path.join(shipped, 'al2023.tar.br')), 'lib')
  return starter.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu'],
    env: { HOME: tmpdir(), LD_LIBRARY_PATH: libraries },
  })
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
