# bash completion for moss
_moss() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" offered="" valued=""
  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD files=""
  # Bash takes --mode=re for three words.
  if [[ "$current" == "=" ]]; then current=""
  elif [[ "$previous" == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ "$previous" == "--home" ]]; then COMPREPLY=($(compgen -d -- "$current")); return; fi
  case "$command" in artifact|capsule)
    if (( place > 2 )); then command="$command $second"; fi ;;
  esac
  if (( place == 1 )); then offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import inventory latest list mcp purge restore search store tour update artifact capsule --help --version --home"
  else case "$command" in
    "append") offered="--id --workspace --name --section --content --file --home --table --help" valued="--id --workspace --name --section --content --file" ;;
    "backup") offered="--path --home --table --help" files=1 valued="--path" ;;
    "bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role" ;;
    "bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags" ;;
    "completion") offered="bash zsh fish --shell --help" valued="--shell" ;;
    "compose") offered="--items --sections --format --store-as --item --text --home --table --help" valued="--items --sections --format --store-as --item" ;;
    "config") offered="--home --table --help" valued="" ;;
    "delete") offered="--id --workspace --name --home --table --help" valued="--id --workspace --name" ;;
    "doctor") offered="--fix --home --table --help" valued="" ;;
    "export") offered="--path --workspace --include-deleted --home --table --help" files=1 valued="--path --workspace" ;;
    "fetch") offered="--id --workspace --name --include-text --include-deleted --text --no-include-text --home --table --help" valued="--id --workspace --name" ;;
    "fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" valued="--items --item" ;;
    "help") offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import inventory latest list mcp purge restore search store tour update artifact capsule --command --help" valued="--command" ;;
    "import") offered="--path --mode --max-bytes --home --table --help" files=1 valued="--path --mode --max-bytes" ;;
    "inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --limit --offset" ;;
    "latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --text --home --table --help" valued="--workspace --run-id --phase --role" ;;
    "list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset --home --table --help" valued="--workspace --run-id --phase --role --limit --offset" ;;
    "mcp") offered="--toolsets --home --help" valued="--toolsets" ;;
    "purge") offered="--workspace --older-than-days --older-than --type --home --table --help" valued="--workspace --older-than-days --older-than --type" ;;
    "restore") offered="--id --home --table --help" valued="--id" ;;
    "search") offered="--query --types --workspace --run-id --limit --offset --home --table --help" valued="--query --types --workspace --run-id --limit --offset" ;;
    "store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file --home --table --help" valued="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --file" ;;
    "tour") offered="--help" valued="" ;;
    "update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file --home --table --help" valued="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --file" ;;
    "artifact bulk-delete") offered="--workspace --kind --run-id --phase --role --tag --home --table --help" valued="--workspace --kind --run-id --phase --role --tag" ;;
    "artifact bulk-update") offered="--workspace --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds --home --table --help" valued="--workspace --kind --run-id --phase --role --tag --set-phase --set-role --set-tags --set-ttl-seconds" ;;
    "artifact compose") offered="--items --format --store-as --item --text --home --table --help" valued="--items --format --store-as --item" ;;
    "artifact delete") offered="--id --workspace --name --home --table --help" valued="--id --workspace --name" ;;
    "artifact fetch") offered="--id --workspace --name --include-expired --include-deleted --text --home --table --help" valued="--id --workspace --name" ;;
    "artifact kinds") offered="--home --table --help" valued="" ;;
    "artifact list") offered="--workspace --kind --run-id --phase --role --tag --include-expired --include-deleted --order-by --limit --offset --home --table --help" valued="--workspace --kind --run-id --phase --role --tag --order-by --limit --offset" ;;
    "artifact store") offered="--kind --data --workspace --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --validate --file --home --table --help" valued="--kind --data --workspace --name --text --run-id --phase --role --tags --ttl-seconds --expected-version --mode --file" ;;
    "artifact touch") offered="--id --workspace --name --ttl-seconds --home --table --help" valued="--id --workspace --name --ttl-seconds" ;;
    "capsule append") offered="--id --workspace --name --section --content --file --home --table --help" valued="--id --workspace --name --section --content --file" ;;
    "capsule bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role" ;;
    "capsule bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags" ;;
    "capsule compose") offered="--items --sections --format --store-as --item --text --home --table --help" valued="--items --sections --format --store-as --item" ;;
    "capsule delete") offered="--id --workspace --name --home --table --help" valued="--id --workspace --name" ;;
    "capsule export") offered="--path --workspace --include-deleted --home --table --help" files=1 valued="--path --workspace" ;;
    "capsule fetch") offered="--id --workspace --name --include-text --include-deleted --text --no-include-text --home --table --help" valued="--id --workspace --name" ;;
    "capsule fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" valued="--items --item" ;;
    "capsule import") offered="--path --mode --max-bytes --home --table --help" files=1 valued="--path --mode --max-bytes" ;;
    "capsule inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help" valued="--workspace --tag --name-prefix --run-id --phase --role --limit --offset" ;;
    "capsule latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --text --home --table --help" valued="--workspace --run-id --phase --role" ;;
    "capsule list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset --home --table --help" valued="--workspace --run-id --phase --role --limit --offset" ;;
    "capsule purge") offered="--workspace --older-than-days --older-than --type --home --table --help" valued="--workspace --older-than-days --older-than --type" ;;
    "capsule restore") offered="--id --home --table --help" valued="--id" ;;
    "capsule search") offered="--query --workspace --tag --run-id --phase --role --include-deleted --limit --offset --home --table --help" valued="--query --workspace --tag --run-id --phase --role --limit --offset" ;;
    "capsule store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file --home --table --help" valued="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --file" ;;
    "capsule update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file --home --table --help" valued="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --file" ;;
    "artifact") offered="bulk-delete bulk-update compose delete fetch kinds list store touch" ;;
    "capsule") offered="append bulk-delete bulk-update compose delete export fetch fetch-many import inventory latest list purge restore search store update" ;;
  esac; fi
  # After an option that takes a value: what it can be, or nothing.
  if [[ " $valued " == *" $previous "* ]]; then offered="" files=""; fi
  case "$command $previous" in
    "append --file") files=1 ;;
    "backup --path") files=1 ;;
    "completion --shell") offered="bash zsh fish" ;;
    "compose --format") offered="markdown json" ;;
    "export --path") files=1 ;;
    "help --command") offered="append backup bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import inventory latest list mcp purge restore search store tour update artifact capsule" ;;
    "import --path") files=1 ;;
    "import --mode") offered="error replace rename" ;;
    "mcp --toolsets") offered="capsule artifact reasoning task record core" ;;
    "search --types") offered="capsule artifact" ;;
    "store --mode") offered="error replace" ;;
    "store --file") files=1 ;;
    "update --file") files=1 ;;
    "artifact compose --format") offered="markdown json" ;;
    "artifact list --order-by") offered="updated_at created_at" ;;
    "artifact store --mode") offered="error replace" ;;
    "artifact store --file") files=1 ;;
    "capsule append --file") files=1 ;;
    "capsule compose --format") offered="markdown json" ;;
    "capsule export --path") files=1 ;;
    "capsule import --path") files=1 ;;
    "capsule import --mode") offered="error replace rename" ;;
    "capsule store --mode") offered="error replace" ;;
    "capsule store --file") files=1 ;;
    "capsule update --file") files=1 ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ -n "$files" ]]; then
    COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2> /dev/null
  fi
}
complete -F _moss moss moss-memory
