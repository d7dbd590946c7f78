const words = (list: string): readonly string[] => list.trim().split(/\s+/)

/**
 * Names that imitations resemble: much used ones of each registry: those that are installed and, where it is another, the one
 * that is imported. The lists are the project's own; an operator adds to them with a setting.
 */
export const popular = {
  npm: words(`
  react react-dom react-router react-router-dom preact next nuxt vue vuex vue-router svelte angular jquery
  lodash underscore ramda axios node-fetch request got superagent undici ky express koa fastify hapi restify
  connect body-parser cookie-parser cors helmet morgan multer passport jsonwebtoken bcrypt bcryptjs jose dotenv
  commander yargs chalk colors inquirer ora debug winston pino bunyan moment dayjs luxon date-fns uuid nanoid
  async bluebird rxjs immer redux react-redux mobx zustand typescript ts-node tsx babel webpack rollup rolldown
  vite esbuild parcel gulp grunt eslint prettier jest vitest mocha chai sinon jasmine karma cypress playwright
  puppeteer selenium-webdriver jsdom cheerio mongoose mongodb mysql mysql2 sqlite3 better-sqlite3 redis ioredis
  sequelize typeorm prisma knex drizzle-orm socket.io socket.io-client websocket graphql apollo-server
  apollo-client aws-sdk firebase firebase-admin stripe nodemailer sharp jimp canvas three chart.js echarts
  highcharts leaflet bootstrap tailwindcss postcss autoprefixer sass styled-components classnames prop-types
  formik react-hook-form yup joi ajv zod validator semver glob minimatch rimraf mkdirp fs-extra chokidar
  cross-env cross-spawn execa shelljs concurrently nodemon husky lint-staged lerna electron discord.js openai
  langchain core-js regenerator-runtime tslib event-stream cookie-session express-session http-proxy
  http-proxy-middleware http-server serve serve-static mime form-data formidable busboy archiver adm-zip xml2js
  fast-xml-parser csv-parse papaparse marked markdown-it handlebars mustache pug twig nunjucks cookie mime-types
  iconv-lite qs query-string path-to-regexp color-convert ansi-styles strip-ansi supports-color tough-cookie
  bignumber.js ethers web3 crypto-js node-forge tweetnacl bull bullmq agenda node-cron cron kafkajs amqplib mqtt
  protobufjs puppeteer-core eslint-config-prettier eslint-plugin-react storybook swr htmx.org alpinejs solid-js
  lit d3 d3-scale pixi.js phaser matter-js test types tests config request-promise
  `),
  pypi: words(`
  requests urllib3 httpx aiohttp httplib2 certifi chardet charset-normalizer idna numpy scipy pandas polars
  matplotlib seaborn plotly bokeh altair scikit-learn sklearn scikit-image skimage tensorflow keras torch
  torchvision torchaudio pytorch-lightning lightning transformers tokenizers datasets accelerate diffusers
  huggingface-hub sentence-transformers langchain langchain-core openai anthropic tiktoken faiss-cpu faiss
  xgboost lightgbm catboost statsmodels nltk spacy gensim opencv-python cv2 pillow PIL imageio flask django
  djangorestframework rest-framework fastapi starlette uvicorn gunicorn hypercorn tornado sanic bottle pyramid
  cherrypy werkzeug jinja2 markupsafe itsdangerous click typer rich tqdm colorama termcolor tabulate pyyaml yaml
  toml tomli tomlkit python-dotenv dotenv pydantic pydantic-settings marshmallow attrs attr sqlalchemy alembic
  psycopg2 psycopg2-binary psycopg asyncpg pymysql mysqlclient mysql-connector-python mysql pymongo motor redis
  celery kombu rq boto3 botocore boto awscli s3transfer google-cloud-storage google-auth google azure
  azure-storage-blob kubernetes docker paramiko fabric ansible invoke cryptography pycryptodome crypto pyjwt jwt
  bcrypt passlib pyopenssl openssl beautifulsoup4 bs4 lxml html5lib scrapy selenium playwright mechanize pytest
  pytest-cov pytest-asyncio tox nox coverage hypothesis mock black isort flake8 pylint mypy ruff pre-commit
  setuptools wheel pip build twine poetry virtualenv pipenv packaging six python-dateutil dateutil pytz tzdata
  arrow pendulum simplejson orjson ujson msgpack protobuf grpcio grpc websockets websocket-client websocket
  sentry-sdk loguru structlog prometheus-client psutil watchdog schedule apscheduler jupyter notebook jupyterlab
  ipython ipykernel ipywidgets streamlit gradio dash networkx sympy numba cython dask pyspark openpyxl xlrd
  xlsxwriter docx python-docx pypdf pypdf2 reportlab pyarrow h5py shapely geopandas folium pygame pyautogui
  pynput pyserial serial zmq pyzmq discord discord.py tweepy praw telegram python-telegram-bot slack-sdk stripe
  twilio sendgrid faker factory-boy freezegun responses moto tenacity retrying cachetools filelock platformdirs
  more-itertools toolz wrapt decorator regex rapidfuzz setuptools-scm typing-extensions cffi greenlet gevent
  eventlet nest-asyncio anyio trio uvloop aiofiles aiosqlite config tests models test
  `),
}

/** Modules that come with Python, and usual names of a project's own. */
export const pythonStandard = words(`
  abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs
  codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg cprofile
  csv ctypes curses dataclasses datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno
  faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob
  graphlib grp gzip hashlib heapq hmac html http idlelib imaplib importlib inspect io ipaddress itertools json
  keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder msvcrt multiprocessing
  netrc numbers operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix
  pprint profile pstats pty pwd pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter runpy
  sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat
  statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios
  textwrap threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types
  typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xml
  xmlrpc zipapp zipfile zipimport zlib zoneinfo utils main app __future__
`)
