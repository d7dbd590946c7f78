import { cp, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'
import { compileSources } from './compile.ts'

/** Makes `dist`: the bundled gateway, and the types of everything. */
const dist = fileURLToPath(new URL('../dist', import.meta.url))

// After `npm run check` nothing has to look for errors a second time.
const types = await compileSources({ isChecked: process.argv.includes('--checked') })
await rm(dist, { recursive: true, force: true })
await cp(types, dist, { recursive: true })
await bundle(dist)
