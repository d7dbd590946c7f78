import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A module in a worker that is built, for a gateway that runs from its sources: the module, too, is the built one. */
const sources = fileURLToPath(new URL('../..', import.meta.url))
const built = path.join(sources, 'node_modules/.cache/built')

registerHooks({
  resolve(name, context, next) {
    const found = next(name, context)
    if (!found.url.startsWith('file:')) return found
    const file = path.relative(sources, fileURLToPath(found.url))
    if (!file.endsWith('.ts') || file.startsWith('..')) return found
    const instead = path.join(built, file.replace(/\.ts$/, '.js'))
    return existsSync(instead) ? { ...found, url: pathToFileURL(instead).href, format: 'module' } : found
  },
})

await import(pathToFileURL(path.join(built, 'isolation/guest.js')).href)
