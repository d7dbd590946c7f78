import type { Registry } from './packages.ts'

/** What the names of a language mean to the rules. All patterns are over full names of calls, or over expressions. */
export interface Terms {
  readonly registry: Registry
  /** Calls that run their first argument as a program of this language. */
  readonly evaluates: RegExp
  /** Calls that run their first argument in a shell. */
  readonly shells: RegExp
  /** Calls that run a program with a list of arguments; in a shell if an argument matches `asShell`. */
  readonly runs: RegExp
  readonly asShell: RegExp
  /** Calls that delete a folder with all that is in it. */
  readonly deletes: RegExp
  /** Calls that send something to another machine. */
  readonly sends: RegExp
  /** Calls that make objects, and so code, of what they read. */
  readonly revives: RegExp
  /** Arguments with which such a call is harmless. */
  readonly revivesSafely: RegExp
  readonly remoteShells: RegExp
  /** Calls that run SQL. */
  readonly queries: RegExp
  /** Expressions that users write the value of. */
  readonly input: RegExp
  /** Expressions that hold all variables of the environment, cookies and the like. */
  readonly secrets: RegExp
  /** Expressions that come from another machine, or out of an encoding. */
  readonly remote: RegExp
  /** Calls for which a path of credentials is only a text. */
  readonly talks: RegExp
}

export const python: Terms = {
  registry: 'pypi',
  evaluates: /^(?:eval|exec|runpy\.run_path)$/,
  shells:
    /^(?:os\.(?:system|popen)|subprocess\.(?:getoutput|getstatusoutput)|asyncio\.create_subprocess_shell|commands\.getoutput)$/,
  runs: /^(?:subprocess\.(?:run|call|Popen|check_output|check_call)|asyncio\.create_subprocess_exec|os\.(?:exec|spawn)[lv]p?e?)$/,
  asShell: /^shell\s*=\s*True$/,
  deletes: /^shutil\.rmtree$/,
  sends:
    /^(?:(?:requests|httpx)\.(?:get|post|put|patch|request)|urllib\.request\.(?:urlopen|Request))$|\.(?:post|put|patch|send|sendall|sendto|sendmail|send_message)$/,
  revives: /^(?:(?:c?pickle|dill|marshal|jsonpickle)\.(?:loads?|decode)|yaml\.(?:unsafe_|full_)?load)$/i,
  revivesSafely: /SafeLoader/,
  remoteShells: /^(?:os\.dup2|pty\.spawn)$/,
  queries: /\.(?:execute|executemany|executescript|raw)$/,
  input:
    /(?<![\w.])(?:input\s*\(|(?:flask\.)?request\.(?:args|form|json|data|values|files|GET|POST|get_json|cookies|headers|query_params|body)\b)|\bsys\.(?:argv|stdin)\b/,
  secrets: /\bos\.environ\b(?!\s*(?:\[|\.(?:get|setdefault|pop|update)\b))/,
  remote:
    /(?<![\w.])(?:(?:requests|httpx)\.get|urlopen|urllib\.request\.urlopen)\s*\(|\.recv\s*\(|\bb(?:64|32|16)decode\s*\(|\bzlib\.decompress\s*\(|\bbytes\.fromhex\s*\(|\bcodecs\.decode\s*\(/,
  talks:
    /^(?:print|logging\.\w+|log(?:ger)?\.\w+|raise|ValueError|Exception|.*\.(?:add_argument|endswith|startswith|chmod|exists|is_file))$/,
}

export const javascript: Terms = {
  registry: 'npm',
  evaluates: /^(?:eval|(?:new )?Function|vm\.(?:runIn(?:This|New)?Context|compileFunction)|new vm\.Script)$/,
  shells: /^(?:child_process\.exec(?:Sync)?|shelljs\.exec|execa\.execaCommand)$/,
  runs: /^(?:child_process\.(?:spawn|execFile)(?:Sync)?|execa(?:\.execa)?|Bun\.spawn|new Deno\.Command)$/,
  asShell: /\bshell\s*:\s*(?:true|['"])/,
  deletes:
    /^(?:fs(?:\/promises|\.promises|-extra)?\.(?:rm|rmdir|remove|emptyDir)(?:Sync)?|rimraf(?:\.\w+)*|Deno\.remove(?:Sync)?)$/,
  sends:
    /^(?:fetch|node-fetch|axios(?:\.\w+)?|got(?:\.\w+)?|https?\.(?:get|request)|navigator\.sendBeacon|ky(?:\.\w+)?|\$\.(?:get|post|ajax))$|(?:^|[)\w]\.)(?:send|post|put)$/,
  revives: /^(?:node-serialize|serialize)\.unserialize$/,
  revivesSafely: /(?!)/,
  remoteShells: /(?!)/,
  queries: /\.(?:query|execute|raw|\$queryRawUnsafe|\$executeRawUnsafe|exec)$/,
  input:
    /\breq(?:uest)?\.(?:body|query|params|headers|url|cookies)\b|\bctx\.(?:query|params|request)\b|\bprocess\.(?:argv|stdin)\b|\bprompt\s*\(|\blocation\.(?:hash|search|href)\b|\b(?:event|e|ev|msg|message)\.data\b|\bwindow\.name\b|\.question\s*\(|\bURLSearchParams\b/,
  secrets: /\bdocument\.cookie\b|\blocalStorage\b(?!\s*[.[])|\bprocess\.env\b(?!\s*(?:\?\.|[.[]))/,
  remote:
    /(?<![\w.])(?:fetch|atob|axios(?:\.get)?|got|https?\.get)\s*\(|\bBuffer\.from\s*\([^)]*(?:base64|hex)/,
  talks: /^(?:console\.\w+|(?:new )?Error|.*\.(?:endsWith|startsWith|includes|existsSync|chmodSync|option))$/,
}
