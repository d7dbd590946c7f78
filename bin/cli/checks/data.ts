import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../../config/config.ts'
import { openSecrets } from '../../../gateway/secrets/open-secrets.ts'
import { explain } from '../../../kit/explain.ts'
import { exists, folderProblem } from '../data-folder.ts'
import { type Check, failed, ok, warning } from './result.ts'
import { type Circumstances, checkStore } from './store.ts'

/** Whether the data folder can be used, by this process alone, and what is in it be read. */
export async function checkData(config: Config, circumstances: Circumstances): Promise<Check[]> {
  const { dataDir } = config
  if (!(await exists(dataDir))) {
    const problem = await folderProblem(dataDir)
    if (problem) return [failed('data folder', problem)]
    return [ok('data folder', `${dataDir} will be created at the first start, with its encryption key.`)]
  }
  const unreadable = await readdir(dataDir).then(
    () => undefined,
    (error: unknown) => failed('data folder', `${dataDir} cannot be read: ${explain(error)}`),
  )
  if (unreadable) return [unreadable]
  const store = (await exists(path.join(dataDir, 'db')))
    ? await checkStore(dataDir, circumstances)
    : [ok('store', 'It will be created at the first start.')]
  return [await checkFolder(config), ...store, await checkSecrets(config, circumstances)]
}

async function checkFolder({ dataDir, storage }: Config): Promise<Check> {
  try {
    await rm(await mkdtemp(path.join(dataDir, '.doctor-')), { recursive: true })
    const { bavail, bsize } = await statfs(dataDir)
    const free = `${Math.floor((bavail * bsize) / 2 ** 20)} MB are free`
    return bavail * bsize < storage.minFree
      ? warning('data folder', `${dataDir} is writable; ${free}, so bodies of traces are not stored.`)
      : ok('data folder', `${dataDir} is writable; ${free}.`)
  } catch (error) {
    return failed('data folder', `${dataDir} is not writable: ${explain(error)}`)
  }
}

async function checkSecrets({ dataDir, encryptionKey }: Config, { running }: Circumstances): Promise<Check> {
  const folder = path.join(dataDir, 'secrets')
  const [key, salt] = await Promise.all(
    ['encryption.key', 'encryption.salt'].map((file) => exists(path.join(folder, file))),
  )
  if (!encryptionKey && !key && salt) {
    if (running) {
      const message =
        'The running gateway uses a SERVICE_ENCRYPTION_KEY. Set it for doctor too, so that doctor can check it.'
      return warning('encryption key', message)
    }
    const message =
      'Earlier starts used a SERVICE_ENCRYPTION_KEY. Values that they encrypted cannot be read without it.'
    return failed('encryption key', message)
  }
  if (encryptionKey ? !salt : !key) {
    const message = encryptionKey
      ? 'It will be derived from SERVICE_ENCRYPTION_KEY.'
      : 'It will be created at the first start.'
    return key
      ? warning('encryption key', `${message} Values encrypted with the stored key stay readable.`)
      : ok('encryption key', message)
  }
  try {
    await openSecrets({ dataDir, passphrase: encryptionKey })
    return ok('encryption key', encryptionKey ? 'From SERVICE_ENCRYPTION_KEY.' : `Kept in ${folder}.`)
  } catch (error) {
    return failed('encryption key', explain(error))
  }
}
