namespace QuickSilver.Seeds.Tests.PlantedBugs;

// A mistake that a maintainer of the protocol could make: what stands in one place of a source, and what would stand there.
// The original is long enough to be found exactly once.
public sealed record PlantedBug(string Name, string File, string Original, string Mistake)
{
    /// <summary>The hardships that each seed meets, as QS_HARDSHIPS has them; null: as drawn. For what few seeds would draw.</summary>
    public string? Hardships { get; init; }

    /// <summary>The campaign that must find it, as the program's argument; null: MixedFaults.</summary>
    public string? Campaign { get; init; }

    /// <summary>The seed with which the search begins: the first that found it, or a quicker one.</summary>
    public ulong FirstSeed { get; init; } = 1;

    /// <summary>The project that the file is part of.</summary>
    public string Project => File.Split('/')[1];

    /// <summary>The source with the mistake; throws when the original does not stand there once.</summary>
    public string Plant(string source)
    {
        int at = source.IndexOf(Original, StringComparison.Ordinal);
        if (at < 0 || source.IndexOf(Original, at + 1, StringComparison.Ordinal) >= 0)
        {
            string found = $"{File} holds {(at < 0 ? "no" : "more than one")} '{Original}'";
            throw new InvalidOperationException($"{found}, where '{Name}' is to be planted: the list has fallen behind.");
        }

        return source[..at] + Mistake + source[(at + Original.Length)..];
    }

    public override string ToString() => Name;
}
