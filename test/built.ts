import path from 'node:path'

/** The gateway as `npm run build` makes it, of the sources as they are when a run of tests begins. */
export const built = path.resolve('node_modules/.cache/built')

/** What runs a command of the command line, as it is built. */
export const main = path.join(built, 'bin/main.js')
