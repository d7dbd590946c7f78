#!/usr/bin/env node
import { existsSync } from 'node:fs'

// Plain JavaScript that any Node reads, so that one that is too old is told so.
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Switchyard needs Node 24 or later; this is ${process.versions.node}.`)
  process.exitCode = 1
} else {
  // The package has no source; a repository may have files that were built from an older one.
  const source = new URL('./main.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/bin/main.js', import.meta.url).href)
}
