namespace QuickSilver.Tool.Etcd;

// What an operator does about a request that etcd refuses, by a part of the words in which it does. Such a refusal lasts until an operator
// acts, or until etcd has a leader again.
internal static class EtcdRefusal
{
    private static readonly (string Words, string WhatToDo)[] Table =
    [
        ("database space exceeded",
            "Its quota is used up (alarm NOSPACE). Delete what does not belong there, free the space with 'etcdctl compact' and "
            + "'etcdctl defrag', and end the alarm with 'etcdctl alarm disarm'."),
        ("corrupt",
            "Its members have different data (alarm CORRUPT). Find the member with 'etcdctl alarm list', and replace it."),
        ("permission denied", NoRight),
        ("user name is empty", NoRight),
        ("invalid auth token", NoRight),
        ("too many requests", "It applies requests more slowly than they come. Look at its disks, and at what else writes to it."),
        ("request is too large", "Raise its --max-request-bytes to the default or above."),
        ("no leader", "Most of its members do not reach each other. Start them, or restore the network between them."),
        ("request timed out", "Most of its members do not answer in time. Look at their disks, and at the network between them."),
    ];

    private const string NoRight =
        "Give the user of the certificate that qsm shows to it the right to read and write keys that begin with /quicksilver/.";

    /// <summary>One or more sentences; null: nothing that is known.</summary>
    public static string? WhatToDo(string refusal)
    {
        foreach (var (words, whatToDo) in Table)
        {
            if (refusal.Contains(words, StringComparison.OrdinalIgnoreCase))
            {
                return whatToDo;
            }
        }

        return null;
    }
}
