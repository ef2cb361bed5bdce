using System.Globalization;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// The exception that is thrown when a limit of a group's state is reached. The call that throws it has changed nothing.
/// </summary>
public sealed class GroupFullException : QuickSilverException
{
    internal GroupFullException(string group, string what, long limit, string remedy)
        : base(string.Create(
            CultureInfo.InvariantCulture,
            $"\"{group}\" has reached its limit of {limit:N0} {what}. {remedy}"))
    {
        Group = group;
        Limit = limit;
    }

    /// <summary>The name of the group.</summary>
    public string Group { get; }

    /// <summary>The limit that was reached.</summary>
    public long Limit { get; }
}
