namespace QuickSilver.Tool.Etcd;

// How certificates keep this process from asking a member of etcd.
internal enum EtcdKeyFault
{
    None = 0,

    // The member is not trusted.
    NotBelieved,

    // The member does not trust this process. It says so, or just closes the connection.
    NotAccepted,
}
