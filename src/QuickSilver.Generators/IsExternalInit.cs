namespace System.Runtime.CompilerServices;

// netstandard2.0 lacks what records and init accessors need.
internal static class IsExternalInit
{
}
