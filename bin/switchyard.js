#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// Plain JavaScript that any Node reads, so that one that is too old is told so, and so that nothing has to be compiled
// before what was compiled last time is at hand.
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Switchyard needs Node 24 or later; this is ${process.versions.node}.`)
  process.exitCode = 1
} else {
  withOneArena()
  startYoung()
  const { main, cache } = await placesOf(fileURLToPath(new URL('..', import.meta.url)))
  keepCompiled(path.join(cache, 'compiled'))
  await import(pathToFileURL(main).href)
}

/** The file to run and where to keep things for it. The package has no sources; a checkout may have files built from older ones. */
async function placesOf(root) {
  const cache = path.join(root, 'node_modules/.cache')
  if (!existsSync(path.join(root, 'bin/main.ts'))) return { main: path.join(root, 'dist/bin/main.js'), cache }
  const { bundleOf } = await import('./checkout.js')
  const bundle = bundleOf(root)
  if (!bundle) return { main: path.join(root, 'bin/main.ts'), cache }
  return { main: path.join(bundle, 'bin/main.js'), cache: bundle }
}

/**
 * Begins the gateway's process anew, as the same process, with one arena of memory for all threads: glibc has one for each of a
 * dozen threads otherwise, gives little of them back, and reads what it is told only when a process begins. Older Nodes warn of it.
 */
function withOneArena() {
  const { env, argv, execArgv, execPath, platform } = process
  const isStart = argv.length === 2 || argv[2] === 'start'
  // A channel to the process that started this one would not outlive it.
  if (platform !== 'linux' || major < 26 || !isStart || env.MALLOC_ARENA_MAX || env.NODE_CHANNEL_FD) return
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, MALLOC_ARENA_MAX: '1' })
}

/**
 * Has everything made in the young generation. V8 makes objects in the old one where others from the same line of code grew old, as
 * those of calls do that wait for a slow provider. There they are garbage that stays until the whole heap is collected, and keeps
 * all that they refer to: most of what a call left behind, and most of the work of the collector.
 */
function startYoung() {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Has Node keep what it compiles, which halves the time of a start: in this folder, else in the user's cache. Threads
 * and commands that are started find the folder by the variable. Only folders of whoever may change the code, or of the
 * user, will do, as what lies there is run.
 */
function keepCompiled(beside) {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return
  const caches = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache')
  const folder = [beside, path.join(caches, 'switchyard')].find(
    (folder) => module.enableCompileCache(folder).status === module.constants.compileCacheStatus.ENABLED,
  )
  if (folder) process.env.NODE_COMPILE_CACHE = folder
}
