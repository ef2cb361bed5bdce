using System.Collections.Immutable;

namespace QuickSilver.Diagnostics.Figures;

internal enum FigureKind
{
    /// <summary>It grows from the start of the node.</summary>
    Count,

    /// <summary>It rises and falls.</summary>
    Level,

    /// <summary>The node records it while a listener is attached. There is nothing to read.</summary>
    Recorded,
}

/// <summary>A figure of a node, as the meter and the pages name it.</summary>
/// <param name="Name">The name of its instrument.</param>
/// <param name="Kind">How its values change.</param>
/// <param name="Unit">What it counts, in braces, or a unit of UCUM.</param>
/// <param name="Sentence">What it means.</param>
internal abstract record NodeFigure(string Name, FigureKind Kind, string Unit, string Sentence)
{
    /// <summary>The tags that distinguish its series, without those of the node.</summary>
    public ImmutableArray<string> Tags { get; init; } = [];
}

/// <summary>A figure that is recorded, and not read.</summary>
internal sealed record RecordedFigure(string Name, string Unit, string Sentence)
    : NodeFigure(Name, FigureKind.Recorded, Unit, Sentence);

/// <summary>A figure with one value: a number, a time, or distributions by the level of the ring.</summary>
/// <param name="Name">The name of its instrument.</param>
/// <param name="Kind">How its values change.</param>
/// <param name="Unit">What it counts.</param>
/// <param name="Sentence">What it means.</param>
/// <param name="Read">Reads the value. From any thread.</param>
internal sealed record NodeFigure<T>(string Name, FigureKind Kind, string Unit, string Sentence, Func<IFigureSource, T> Read)
    : NodeFigure(Name, Kind, Unit, Sentence);

/// <summary>A figure with a value for each value of its tag.</summary>
/// <param name="Name">The name of its instrument.</param>
/// <param name="Kind">How its values change.</param>
/// <param name="Unit">What it counts.</param>
/// <param name="Sentence">What it means.</param>
/// <param name="Read">Reads the values, each with that of the tag. From any thread.</param>
internal sealed record FigureByTag<T>(
    string Name, FigureKind Kind, string Unit, string Sentence, Func<IFigureSource, IEnumerable<(string Tag, T Value)>> Read)
    : NodeFigure(Name, Kind, Unit, Sentence);
