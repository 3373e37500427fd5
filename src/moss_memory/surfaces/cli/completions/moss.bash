# bash completion for moss
_moss() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" place=$COMP_CWORD offered=""
  case "$previous" in
    --file|--path) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --home) COMPREPLY=($(compgen -d -- "$current")); return ;;
  esac
  case "$command" in capsule)
    if (( place > 2 )); then command="$command $second"; fi ;;
  esac
  case "$command $previous" in
    "completion --shell") offered="bash zsh fish" ;;
    "compose --format") offered="markdown json" ;;
    "import --mode") offered="error replace rename" ;;
    "store --mode") offered="error replace" ;;
    "capsule compose --format") offered="markdown json" ;;
    "capsule import --mode") offered="error replace rename" ;;
    "capsule store --mode") offered="error replace" ;;
  esac
  if [[ -n "$offered" ]]; then
    :
  elif (( place == 1 )); then
    offered="append bulk-delete bulk-update completion compose config delete doctor export fetch fetch-many help import inventory latest list mcp purge restore search store tour update capsule --help --version --home"
  else
    case "$command" in
      "append") offered="--id --workspace --name --section --content --file --home --table --help" ;;
      "bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role --home --table --help" ;;
      "bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home --table --help" ;;
      "completion") offered="bash zsh fish --shell --home --table --help" ;;
      "compose") offered="--items --sections --format --store-as --item --home --table --help" ;;
      "config") offered="--home --table --help" ;;
      "delete") offered="--id --workspace --name --home --table --help" ;;
      "doctor") offered="--fix --home --table --help" ;;
      "export") offered="--path --workspace --include-deleted --home --table --help" ;;
      "fetch") offered="--id --workspace --name --include-text --include-deleted --no-include-text --home --table --help" ;;
      "fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" ;;
      "help") offered="--command --home --table --help" ;;
      "import") offered="--path --mode --max-bytes --home --table --help" ;;
      "inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help" ;;
      "latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --home --table --help" ;;
      "list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset --home --table --help" ;;
      "mcp") offered="--toolsets --home --table --help" ;;
      "purge") offered="--workspace --older-than-days --older-than --type --home --table --help" ;;
      "restore") offered="--id --home --table --help" ;;
      "search") offered="--query --types --workspace --run-id --limit --offset --home --table --help" ;;
      "store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file --home --table --help" ;;
      "tour") offered="--home --table --help" ;;
      "update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file --home --table --help" ;;
      "capsule append") offered="--id --workspace --name --section --content --file --home --table --help" ;;
      "capsule bulk-delete") offered="--workspace --tag --name-prefix --run-id --phase --role --home --table --help" ;;
      "capsule bulk-update") offered="--workspace --tag --name-prefix --run-id --phase --role --set-phase --set-role --set-tags --home --table --help" ;;
      "capsule compose") offered="--items --sections --format --store-as --item --home --table --help" ;;
      "capsule delete") offered="--id --workspace --name --home --table --help" ;;
      "capsule export") offered="--path --workspace --include-deleted --home --table --help" ;;
      "capsule fetch") offered="--id --workspace --name --include-text --include-deleted --no-include-text --home --table --help" ;;
      "capsule fetch-many") offered="--items --include-text --include-deleted --item --no-include-text --home --table --help" ;;
      "capsule import") offered="--path --mode --max-bytes --home --table --help" ;;
      "capsule inventory") offered="--workspace --tag --name-prefix --run-id --phase --role --include-deleted --limit --offset --home --table --help" ;;
      "capsule latest") offered="--workspace --run-id --phase --role --include-text --include-deleted --home --table --help" ;;
      "capsule list") offered="--workspace --run-id --phase --role --include-deleted --limit --offset --home --table --help" ;;
      "capsule purge") offered="--workspace --older-than-days --older-than --type --home --table --help" ;;
      "capsule restore") offered="--id --home --table --help" ;;
      "capsule search") offered="--query --workspace --tag --run-id --phase --role --include-deleted --limit --offset --home --table --help" ;;
      "capsule store") offered="--capsule-text --workspace --name --title --tags --source --run-id --phase --role --mode --allow-thin --file --home --table --help" ;;
      "capsule update") offered="--id --workspace --name --capsule-text --title --tags --source --run-id --phase --role --allow-thin --file --home --table --help" ;;
      "capsule") offered="append bulk-delete bulk-update compose delete export fetch fetch-many import inventory latest list purge restore search store update" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -F _moss moss moss-memory
