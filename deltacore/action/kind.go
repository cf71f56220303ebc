package action

import "strings"

// Kind is a set of actions by name. Kinds are joined with |.
type Kind uint16

const (
	KindProtocol Kind = 1 << iota
	KindMetadata
	KindAdd
	KindRemove
	KindCDC
	KindTxn
	KindDomainMetadata
	KindCommitInfo
	KindCheckpointMetadata
	KindSidecar

	kindAll = 1<<iota - 1
)

// kindNames are the names of the kinds in the log, in the order of their bits.
var kindNames = [...]string{
	"protocol", "metaData", "add", "remove", "cdc", "txn", "domainMetadata", "commitInfo", "checkpointMetadata", "sidecar",
}

// String returns the names of the log, joined by "|".
func (k Kind) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// kindNamed returns the kind of an action by its name in the log; 0 for a name that is not known (A1).
func kindNamed(name []byte) Kind {
	switch string(name) {
	case "add":
		return KindAdd
	case "remove":
		return KindRemove
	case "cdc":
		return KindCDC
	case "commitInfo":
		return KindCommitInfo
	case "protocol":
		return KindProtocol
	case "metaData":
		return KindMetadata
	case "txn":
		return KindTxn
	case "domainMetadata":
		return KindDomainMetadata
	case "checkpointMetadata":
		return KindCheckpointMetadata
	case "sidecar":
		return KindSidecar
	}
	return 0
}
