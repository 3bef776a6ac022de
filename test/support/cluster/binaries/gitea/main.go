// Gitea as it is, with a SQLite that needs no C compiler.
package main

import (
	"database/sql"
	"database/sql/driver"
	"os"
	"strings"

	"code.gitea.io/gitea/cmd"
	"code.gitea.io/gitea/modules/log"
	_ "code.gitea.io/gitea/modules/markup/markdown"
	"code.gitea.io/gitea/modules/setting"
	"modernc.org/sqlite"
)

// Set by the build.
var version = "development"

// Gitea writes its data source name for another driver: the pragmas have other names here.
type translated struct{ driver.Driver }

func (d translated) Open(name string) (driver.Conn, error) {
	file, _, _ := strings.Cut(name, "?")
	return d.Driver.Open(file + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_txlock=immediate")
}

func main() {
	sql.Register("sqlite3", translated{&sqlite.Driver{}})
	setting.EnableSQLite3 = true
	setting.SupportedDatabaseTypes = append(setting.SupportedDatabaseTypes, "sqlite3")
	setting.AppVer = version
	app := cmd.NewMainApp(cmd.AppVersion{Version: version})
	err := cmd.RunMainApp(app, os.Args...)
	// Queued lines of the log are lost without it.
	log.GetManager().Close()
	if err != nil {
		os.Exit(1)
	}
}
