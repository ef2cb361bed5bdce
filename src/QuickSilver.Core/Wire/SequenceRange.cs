namespace QuickSilver.Core.Wire;

// A closed range of sequence numbers, both ends in it.
internal readonly record struct SequenceRange(long First, long Last)
{
    public long Numbers => Last - First + 1;

    public override string ToString() => First == Last ? $"{First}" : $"{First}..{Last}";
}
